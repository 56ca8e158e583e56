// slow: report.html in a real headless browser: figures drawn, values under the mouse, records unpacked, no
// errors
#include <gtest/gtest.h>

#include "harness/report/figures.h"
#include "harness/report/summary/summary.h"
#include "tests/support/browser.h"
#include "tests/support/failure_of.h"
#include "tests/support/page_run.h"

namespace page_browser_test {

using nlohmann::json;

class PageInBrowser : public InBrowser {
 protected:
  // Opens the page of these records; the number of figures that it should draw.
  size_t open(const PageRun& run) {
    std::ostringstream left_out;
    const auto records = harness::read_records(run.folder, left_out);
    size_t expected = 0;
    for (const harness::Summary& summary : harness::summarise(records))
      expected += harness::figures_of(summary, "run", SOURCE_DIR).size();
    open_page(run.page());
    browser->evaluate("document.querySelectorAll('details').forEach((fold) => fold.open = true)");
    browser->evaluate("drawMissing()");
    return expected;
  }

  const PageRun matrix_{golden("matrix.jsonl")};
};

TEST_F(PageInBrowser, DrawsEveryFigureAndTableWithoutAnError) {
  for (const char* name : {"matrix.jsonl", "mixed.jsonl", "repeats.jsonl"}) {
    SCOPED_TRACE(name);
    const PageRun run(golden(name));
    const size_t figures = open(run);
    EXPECT_GE(figures, 2u);
    expect_sound(figures);
    EXPECT_GE(browser->evaluate("document.querySelectorAll('table').length"), 4);
  }
}

TEST_F(PageInBrowser, UnpacksTheRecords) {
  open(matrix_);
  EXPECT_EQ(browser->evaluate("unpacked('records').then((blob) => blob.text())"),
            matrix_.text("records.jsonl"));
  EXPECT_EQ(browser->evaluate("document.getElementById('download').textContent"), "Download records.jsonl");
}

TEST_F(PageInBrowser, ShowsValuesUnderTheMouse) {
  open(matrix_);
  const std::string shown = text_under_mouse(
      "(() => { const bar = document.querySelector('figure[data-name=cascade] .mark-rect path');"
      " bar.scrollIntoView({block: 'center'}); const box = bar.getBoundingClientRect();"
      " return [box.x + box.width / 2, box.y + box.height / 2]; })()");
  EXPECT_SAYS(shown, "disk");
  EXPECT_NE(shown.find_first_of("0123456789"), std::string::npos) << shown;
}

TEST_F(PageInBrowser, HostileTextIsOnlyText) {
  const PageRun run(hostile_records());
  const size_t figures = open(run);
  expect_sound(figures);
  EXPECT_EQ(browser->evaluate("document.querySelectorAll('main img, main script, main iframe').length"), 0);
  EXPECT_EQ(browser->evaluate("document.body.textContent.includes('</script><img src=x')"), true);
}

TEST_F(PageInBrowser, FollowsTheSchemeAndTheButton) {
  browser->prefer("dark");
  const size_t figures = open(matrix_);
  const auto background = "getComputedStyle(document.body).backgroundColor";
  const json dark = browser->evaluate(background);
  EXPECT_EQ(data("theme"), "\"dark\"");
  browser->evaluate(
      "delete document.documentElement.dataset.drawnMs, document.getElementById('theme').click()");
  ASSERT_TRUE(browser->wait_for(kDone));
  EXPECT_EQ(data("theme"), "\"light\"");
  EXPECT_NE(browser->evaluate(background), dark);
  expect_sound(figures);
}

// How far down something reaches, in pixels.
std::string bottom_of(const char* selector) {
  return std::string("document.querySelector('") + selector + "').getBoundingClientRect().bottom";
}

TEST_F(PageInBrowser, TheFirstScreenHoldsHeadlinePictureAndThreeNumbers) {
  browser->resize(1280, 900);
  open_page(matrix_.page());
  ASSERT_TRUE(browser->wait_for(kDone));
  EXPECT_LT(browser->evaluate(bottom_of(".headline")), 900);
  EXPECT_LE(browser->evaluate(bottom_of("figure[data-name=cascade] svg.marks")), 900);
  EXPECT_EQ(
      browser->evaluate(
          "[...document.querySelectorAll('.beside dt')].slice(0, 4).map((dt) => dt.textContent).join()"),
      "claims,feed,trained,trust");
  EXPECT_LT(browser->evaluate(bottom_of(".beside dl")), 900);
}

TEST_F(PageInBrowser, OnAPhoneARowOfATableIsOneLine) {
  browser->resize(390, 800);
  open(matrix_);
  EXPECT_LT(browser->evaluate("Math.max(...[...document.querySelectorAll('table.texts tbody tr')]"
                              ".map((row) => row.getBoundingClientRect().height))"),
            60);
}

TEST_F(PageInBrowser, AWholeMatrixFitsAScreenOf1280AndSixThousandPixels) {
  browser->resize(1280, 900);
  open_page(matrix_.page());
  EXPECT_LT(browser->evaluate("document.documentElement.scrollHeight"), 6000);
  EXPECT_EQ(browser->evaluate(
                "[...document.querySelectorAll('.grid .scroll')]"
                ".filter((box) => !box.closest('details') && box.scrollWidth > box.clientWidth).length"),
            0);
}

TEST_F(PageInBrowser, ATextThatIsCutIsWholeAfterAClick) {
  browser->resize(1280, 900);
  open(matrix_);
  const auto cut = [&] {
    return browser->evaluate(
        "[...document.querySelectorAll('td')].filter((cell) => cell.scrollWidth > cell.clientWidth).length");
  };
  EXPECT_GT(cut(), 0);
  browser->evaluate("document.querySelectorAll('button.whole').forEach((button) => button.click())");
  EXPECT_EQ(cut(), 0);
}

TEST_F(PageInBrowser, ALinkToAWordOpensItsFold) {
  open_page(matrix_.page());
  EXPECT_EQ(browser->evaluate("document.querySelector('#words details').open"), false);
  browser->evaluate("document.querySelector('a.term').click()");
  EXPECT_TRUE(browser->wait_for("document.querySelector('#words details').open"));
}

TEST_F(PageInBrowser, NothingButBoxesScrollsSidewaysOnAPhone) {
  browser->resize(400, 800);
  open(matrix_);
  EXPECT_LE(browser->evaluate("document.documentElement.scrollWidth"), 400);
}

// The time to draw is shown, not judged: it says how busy this machine is.
TEST_F(PageInBrowser, BearsEightRanksOfEveryRow) {
  const PageRun run(large_records());
  const size_t figures = open(run);
  expect_sound(figures);
  const auto bytes = std::filesystem::file_size(run.folder / "report.html");
  EXPECT_LT(bytes, 5'000'000u);
  std::cout << "27 rows x 300 batches x 8 ranks: " << bytes << " bytes, drawn " << data("drawnMs")
            << " ms after opening\n";
}

}  // namespace page_browser_test
