// slow: trend.html and comparison.html in a headless browser: charts drawn, values under the mouse, no errors
#include <gtest/gtest.h>

#include <sstream>

#include "harness/compare/compare_runs.h"
#include "harness/nightly/trend_page.h"
#include "tests/support/browser.h"
#include "tests/support/made_up_comparison.h"
#include "tests/support/made_up_trends.h"

namespace trend_browser_test {

using harness::Night;

class TrendInBrowser : public InBrowser {
 protected:
  void open_trend(const std::vector<Night>& nights, const MadeUp& made = {}) {
    const auto trends = made_up_trends(nights, made);
    std::ostringstream console;
    harness::write_trend_page(folder, trends,
                              lasting_changes(trends, nights.back(), harness::Direction::worse), nights,
                              SOURCE_DIR, console);
    open_page(folder / "trend.html");
  }
  void open_comparison(const harness::Comparison& comparison) {
    std::ostringstream console;
    harness::write_comparison_page(folder / "comparison.html", comparison, "a", "b", SOURCE_DIR, console);
    open_page(folder / "comparison.html");
  }

  const TemporaryFolder folder;
};

TEST_F(TrendInBrowser, DrawsAChartPerRowAndCanary) {
  for (const size_t nights : {1, 3, 60}) {
    SCOPED_TRACE(nights);
    open_trend(made_up_nights({.nights = nights}));
    expect_sound(31);
  }
  EXPECT_EQ(browser->evaluate("document.querySelectorAll('.alarm').length"), 1);
  EXPECT_EQ(browser->evaluate("document.body.textContent.includes('+6.0 % machine')"), true);
}

TEST_F(TrendInBrowser, ANightOfFailuresIsSound) {
  auto nights = made_up_nights({.nights = 2});
  for (Night& night : nights) {
    night.canaries.clear();
    for (harness::NightRow& row : night.rows) row.totals_s.clear(), row.status = "HUNG";
  }
  open_trend(nights);
  expect_sound(0);
  EXPECT_EQ(browser->evaluate("document.querySelectorAll('.alarm').length"), 1);
}

TEST_F(TrendInBrowser, ShowsTheNightUnderTheMouse) {
  auto nights = made_up_nights({});
  nights[30].tag = "<img src=x onerror='count(1)'>";
  open_trend(nights);
  const std::string shown = text_under_mouse(
      "(() => { const chart = document.querySelector('figure[data-name=machine-0-row-1]');"
      " chart.scrollIntoView({block: 'center'});"
      " const night = [...chart.querySelectorAll('.mark-rect path')].slice(-30)[0].getBoundingClientRect();"
      " return [night.x + night.width / 2, night.y + night.height / 2]; })()");
  for (const std::string& part :
       {nights[30].id, nights[30].started_at, nights[30].tag, nights[30].revision.substr(0, 12)})
    EXPECT_NE(shown.find(part), std::string::npos) << shown;
  expect_sound(31);
}

TEST_F(TrendInBrowser, HostileTextIsOnlyText) {
  auto nights = made_up_nights({.nights = 3});
  const std::string hostile = "</script><img src=x onerror='count(1)'> {{library}} \xff";
  for (Night& night : nights) {
    night.tag = night.revision = night.machine = night.rows[0].row = hostile;
    night.started_at = "'+count(3)+'";
    night.canaries = {{hostile, 2}};
  }
  open_trend(nights);
  expect_sound(28);
  EXPECT_EQ(browser->evaluate("document.querySelectorAll('main img, main script').length"), 0);
}

TEST_F(TrendInBrowser, AnotherMachineIsDrawnWhenItIsOpened) {
  auto nights = made_up_nights({.nights = 5});
  for (const Night& night : made_up_nights({.nights = 4, .machine = "Other", .seed = 2}))
    nights.push_back(night);
  open_trend(nights);
  expect_sound(31);
  browser->evaluate("document.querySelector('#machine-1-rows details').open = true");
  ASSERT_TRUE(browser->wait_for("document.documentElement.dataset.figures === '58'"));
  expect_sound(58);
  EXPECT_GT(
      browser->evaluate("document.querySelector('#machine-1-rows svg.marks').getBoundingClientRect().width"),
      200);
}

TEST_F(TrendInBrowser, NothingScrollsSidewaysOnAPhone) {
  browser->resize(400, 800);
  open_trend(made_up_nights({}));
  EXPECT_LE(browser->evaluate("document.documentElement.scrollWidth"), 400);
  EXPECT_LE(browser->evaluate("document.querySelector('.multiples svg.marks').clientWidth"), 400);
  open_comparison(made_up_comparison(27));
  EXPECT_LE(browser->evaluate("document.documentElement.scrollWidth"), 400);
}

// The time to draw is shown, not judged: it says how busy this machine is.
TEST_F(TrendInBrowser, BearsFiveThousandNights) {
  const MadeUp made{.nights = 5000, .row_step = 4900, .machine_step = 3000};
  open_trend(made_up_nights(made), made);
  expect_sound(31);
  std::cout << "5000 nights x 27 rows: drawn " << data("drawnMs") << " ms after opening\n";
}

TEST_F(TrendInBrowser, ComparisonsOfAnySizeAreDrawn) {
  open_comparison(made_up_comparison(1));
  expect_sound(1);
  open_comparison(made_up_comparison(27));
  expect_sound(2);
  EXPECT_EQ(browser->evaluate("document.querySelectorAll('td .dot.bad').length"), 7);
  open_comparison(across_machines(made_up_comparison(6)));
  expect_sound(2);
  harness::Comparison hostile = made_up_comparison(2);
  hostile.rows[0].id = hostile.rows[1].reason = "</script><img src=x onerror='count(1)'>";
  open_comparison(hostile);
  expect_sound(2);
  EXPECT_EQ(browser->evaluate("document.querySelectorAll('main img').length"), 0);
}

}  // namespace trend_browser_test
