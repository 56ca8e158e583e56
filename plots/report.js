"use strict";
// Builds the page from the JSON embedded in it. Text from records is inserted as text, never as HTML.
// When all figures are drawn, the root element gets data-figures, data-errors and data-drawn-ms.

const root = document.documentElement;
const embedded = (name) => document.getElementById("embedded-" + name).textContent;
const page = JSON.parse(embedded("page"));

function count(problem) {
  root.dataset.errors = Number(root.dataset.errors) + 1;
  root.dataset.lastError = String(problem).slice(0, 300);
}
addEventListener("error", (event) => count(event.message));
addEventListener("unhandledrejection", (event) => count(event.reason));
for (const level of ["warn", "error"]) {  // also counts Vega's warnings
  const shown = console[level];
  console[level] = (...words) => {
    count(words.join(" "));
    shown.apply(console, words);
  };
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Decodes an embedded element (figures, library or records) from base64 and gzip.
async function unpacked(name) {
  const packed = Uint8Array.from(atob(embedded(name)), (c) => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).blob();
}

// --- blocks of a section ---

const verdictClass = {
  "holds": "good", "does not hold": "bad", "undecided": "open", "by construction": "open",
  "cannot be tested here": "open", "not measured": "open", "FASTER": "good", "SLOWER": "bad", "SAME": "open", "UNDECIDED": "open",
  "slower": "bad", "faster": "good", "worse": "bad", "better": "good",
};

function gridCell(text, column, first) {
  const cell = element(first ? "th" : "td", first ? { scope: "row" } : {}, text);
  if (!column.text) cell.className = "number";
  else if (column.long && !first) cell.className = column.longest > 90 ? "long longer" : "long";
  if (verdictClass[text]) cell.append(element("span", { class: "dot " + verdictClass[text] }));
  return cell;
}

function anchorOf(word) { return "word-" + word.replace(/[^A-Za-z0-9]+/g, "-"); }

// The text of a column's header, a link to its meaning if the page has one.
function headerText(text) {
  const word = (page.terms || {})[text];
  return word ? element("a", { href: "#" + anchorOf(word), class: "term" }, text) : text;
}

// On wide screens a row is one line, whatever its texts; a click on the row, or the button, shows them whole.
function foldTexts(table) {
  const button = element("button", { type: "button", class: "whole", "aria-pressed": "false" }, "show whole texts");
  button.addEventListener("click", () => {
    const whole = table.classList.toggle("whole");
    button.setAttribute("aria-pressed", whole);
    button.textContent = whole ? "one line per row" : "show whole texts";
  });
  for (const row of table.tBodies[0].rows)
    row.addEventListener("click", () => {
      if (String(getSelection()) === "") row.classList.toggle("whole");
    });
  return button;
}

function gridBlock(grid) {
  // The last cell of a row with fewer cells than columns takes the room of the others.
  const spans = (row, i) => i + 1 === row.length && row.length < grid.columns.length;
  grid.columns.forEach((column, i) => {
    column.longest = Math.max(0, ...grid.rows.map((row) => (i < row.length && !spans(row, i) ? row[i].length : 0)));
    column.long = column.text && column.longest > 28;
  });
  const anyLong = grid.columns.some((column, i) => column.long && i > 0);
  const head = element("tr", {}, ...grid.columns.map((column) =>
    element("th", { scope: "col", class: column.text ? "" : "number" }, headerText(column.header))));
  const body = grid.rows.map((row) =>
    element("tr", {}, ...row.map((text, i) => {
      if (!spans(row, i)) return gridCell(text, grid.columns[i], i === 0);
      return element("td", { colspan: String(grid.columns.length - i) }, text);
    })));
  const table = element("table", anyLong ? { class: "texts" } : {}, element("thead", {}, head), element("tbody", {}, ...body));
  const box = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": grid.title }, table);
  const block = element("section", { class: "grid" });
  if (grid.title) block.append(element("h3", {}, grid.title, ...(anyLong ? [" ", foldTexts(table)] : [])));
  block.append(...grid.above.map((line) => element("p", {}, line)), box);
  if (grid.notes.length)
    block.append(element("ul", { class: "notes" }, ...grid.notes.map((line) => element("li", {}, line))));
  return block;
}

function factsBlock(facts) {
  const list = element("dl", {});
  for (const [label, text] of facts) list.append(element("dt", {}, label), element("dd", {}, text));
  return list;
}

function wordsBlock(terms) {
  const list = factsBlock(terms);
  for (const term of list.querySelectorAll("dt")) term.id = anchorOf(term.textContent);
  return list;
}

function size(bytes) {
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function recordsBlock(records) {
  const button = element("button", { type: "button", id: "download" }, "Download records.jsonl");
  button.addEventListener("click", async () => {
    const link = element("a", { download: "records.jsonl" });
    link.href = URL.createObjectURL(await unpacked("records"));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  });
  return element("p", {}, button, ` ${records.lines} lines, ${size(records.bytes)} ` +
    `(${size(embedded("records").length)} in this page), unchanged.`);
}

function figureBlock(name) {
  return element("figure", { class: "scroll", "data-name": name, tabindex: "0" });
}

const blockMakers = {
  mark: ([mark, text]) => element("p", { class: "mark" }, element("strong", {}, mark), " ", text),
  lines: (lines) => element("div", { class: "lines" }, ...lines.map((line) => element("p", {}, line))),
  facts: factsBlock,
  headline: (text) => element("p", { class: "headline" }, text),
  // A picture, and what is said of it on its right.
  beside: ([picture, words]) => element("div", { class: "beside" }, ...[picture, words].map((blocks) =>
    element("div", {}, ...blocks.map(makeBlock)))),
  lists: (lists) => element("div", { class: "lists" }, ...lists.filter(([, lines]) => lines.length).map(([title, lines]) =>
    element("section", {}, element("h3", {}, title), element("ul", {}, ...lines.map((line) => element("li", {}, line)))))),
  words: wordsBlock,
  grid: gridBlock,
  figure: figureBlock,
  wide: (name) => element("div", { class: "wide" }, figureBlock(name)),
  multiples: (names) => element("div", { class: "multiples" }, ...names.map(figureBlock)),
  alarm: ([word, text]) => element("p", { class: "alarm", role: "alert" }, element("strong", {}, word), " ", text),
  fold: ([title, blocks]) => {
    const fold = element("details", {}, element("summary", {}, title), ...blocks.map(makeBlock));
    fold.addEventListener("toggle", drawMissing);  // a closed fold has no width to draw in
    return fold;
  },
  records: recordsBlock,
};

function makeBlock(block) {
  const [[kind, content]] = Object.entries(block);
  return blockMakers[kind](content);
}

function buildPage() {
  document.title = page.title;
  document.getElementById("title").textContent = page.title;
  if (page.note) document.getElementById("title").after(element("p", { class: "mark" }, page.note));
  const main = document.getElementById("main"), contents = document.getElementById("contents");
  let part = "";
  for (const section of page.sections) {
    if (section.part !== part) {
      part = section.part;
      if (part) {
        contents.append(element("b", {}, part));
        main.append(element("h2", { class: "part" }, part));
      }
    }
    contents.append(element("a", { href: "#" + section.id }, section.title));
    main.append(element("section", { id: section.id }, element("h2", {}, section.title),
      ...section.blocks.map(makeBlock)));
  }
}

// --- figures ---

let figures, dark;
const drawnDark = new WeakMap();  // {box: whether it is drawn in the dark theme}

async function drawOne(box) {
  const name = box.dataset.name;
  const spec = { ...figures.specs[name], datasets: { ...figures.data, ...figures.specs[name].datasets } };
  const { view } = await vegaEmbed(box, spec, {
    config: dark ? figures.dark : figures.light,
    renderer: "svg",
    actions: { export: true, source: false, compiled: false, editor: false },
    downloadFileName: name,
    tooltip: { theme: dark ? "dark" : "light" },
  });
  await view.runAsync();
  drawnDark.set(box, dark);
}

async function drawFigures() {
  if (!figures) return;  // a fold was opened before the figures were unpacked
  let drawn = 0;
  for (const box of document.querySelectorAll("figure[data-name]")) {
    try {
      if (box.closest("details:not([open])")) continue;
      if (drawnDark.get(box) === dark) {
        ++drawn;
        continue;
      }
      if (figures.specs[box.dataset.name]) await drawOne(box);
      else if (figures.images[box.dataset.name])
        box.replaceChildren(element("img", { alt: box.dataset.name,
          src: "data:image/svg+xml;base64," + figures.images[box.dataset.name] }));
      else continue;
      ++drawn;
    } catch (problem) {
      count(`${box.dataset.name}: ${problem}`);
      box.replaceChildren(`${box.dataset.name} could not be drawn: ${problem}`);
    }
  }
  root.dataset.figures = drawn;
  root.dataset.drawnMs = Math.round(performance.now());
}

let drawing = Promise.resolve();
function drawMissing() {  // one at a time: two calls would draw into the same box
  drawing = drawing.then(drawFigures);
  return drawing;
}

// A link to something within a closed fold opens it.
function openFolds() {
  let place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let fold = place; fold; fold = fold.parentElement) if (fold.tagName === "DETAILS") fold.open = true;
  if (place) place.scrollIntoView();
}

function applyTheme(wish) {  // "auto", "light" or "dark"
  dark = wish === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : wish === "dark";
  root.dataset.theme = dark ? "dark" : "light";
  document.getElementById("theme").textContent = dark ? "Light" : "Dark";
}

async function start() {
  applyTheme("auto");
  buildPage();
  openFolds();
  addEventListener("hashchange", openFolds);
  let opened = [];  // paper has no folds
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => opened.forEach((fold) => { fold.open = false; }));
  if (embedded("library"))
    document.body.append(element("script", {}, await (await unpacked("library")).text()));
  figures = JSON.parse(await (await unpacked("figures")).text());
  await drawMissing();
  const redraw = (wish) => { applyTheme(wish); return drawMissing(); };
  document.getElementById("theme").addEventListener("click", () => redraw(dark ? "light" : "dark"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw("auto"));
}

start();
