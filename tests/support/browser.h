// A headless Chromium controlled through its DevTools pipe: opens a file, evaluates scripts, moves the mouse,
// records events.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/base/child_process.h"
#include "tests/support/temporary_folder.h"

extern char** environ;

class Browser {
  using json = nlohmann::json;

 public:
  // The first browser that is installed; empty if there is none.
  static std::string program() {
    for (const char* name : {"chromium-headless-shell", "chromium", "google-chrome", "chrome-headless-shell"})
      if (base::program_exists(name)) return name;
    return "";
  }

  explicit Browser(const std::string& program) {
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    // The browser reads from descriptor 3 and writes to 4, which may also be our ends of the pipes.
    posix_spawn_file_actions_adddup2(&files, fcntl(to[0], F_DUPFD_CLOEXEC, 10), 3);
    posix_spawn_file_actions_adddup2(&files, fcntl(from[1], F_DUPFD_CLOEXEC, 10), 4);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::vector<std::string> words = {program,
                                      "--headless",
                                      "--no-sandbox",  // refuses to run as root with it; the page is our own
                                      "--disable-gpu",
                                      "--disable-dev-shm-usage",
                                      "--remote-debugging-pipe",
                                      "--host-resolver-rules=MAP * ~NOTFOUND",
                                      "--user-data-dir=" + profile_.path().string()};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int error = posix_spawnp(&process_, arguments[0], &files, &attributes, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    close(to[0]);
    close(from[1]);
    in_ = to[1];
    out_ = from[0];
    if (error) throw std::runtime_error(program + " can't be started");
    const json target = call("Target.createTarget", {{"url", "about:blank"}});
    session_ = call("Target.attachToTarget", {{"targetId", target.at("targetId")}, {"flatten", true}})
                   .at("sessionId");
    for (const char* domain : {"Page", "Runtime", "Network"}) call(std::string(domain) + ".enable");
  }
  Browser(const Browser&) = delete;
  ~Browser() {
    close(in_);
    close(out_);
    if (process_ > 0) {
      kill(-process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
  }

  void prefer(const std::string& scheme) {
    call("Emulation.setEmulatedMedia",
         {{"features", {{{"name", "prefers-color-scheme"}, {"value", scheme}}}}});
  }
  void resize(int width, int height) {
    call("Emulation.setDeviceMetricsOverride",
         {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
  }
  void open(const std::filesystem::path& file) {
    requests.clear();
    call("Page.navigate", {{"url", "file://" + std::filesystem::absolute(file).string()}});
  }
  // The value of an expression (promises are awaited); a thrown error as text.
  json evaluate(const std::string& expression) {
    const json answer = call("Runtime.evaluate",
                             {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
    if (answer.contains("exceptionDetails")) return answer["exceptionDetails"].dump();
    return answer.at("result").value("value", json());
  }
  // Waits until the expression is true; false after 30 s.
  bool wait_for(const std::string& expression) {
    for (int tries = 0; tries < 300; ++tries) {
      if (evaluate("Boolean(" + expression + ")") == true) return true;
      usleep(100'000);
    }
    return false;
  }
  void move_mouse(double x, double y) {
    call("Input.dispatchMouseEvent", {{"type", "mouseMoved"}, {"x", x}, {"y", y}});
  }

  std::vector<std::string> requests;  // URLs that the page requested

 private:
  json call(const std::string& method, const json& parameters = json::object()) {
    json message = {{"id", ++last_id_}, {"method", method}, {"params", parameters}};
    if (!session_.empty()) message["sessionId"] = session_;
    const std::string text = message.dump() + '\0';
    for (size_t done = 0; done < text.size();) {
      const ssize_t wrote = write(in_, text.data() + done, text.size() - done);
      if (wrote <= 0) throw std::runtime_error("the browser is gone");
      done += static_cast<size_t>(wrote);
    }
    for (;;) {
      const json answer = json::parse(next_message());
      if (answer.value("method", "") == "Network.requestWillBeSent")
        requests.push_back(answer.at("params").at("request").at("url"));
      if (answer.value("id", 0) != last_id_) continue;
      if (answer.contains("error")) throw std::runtime_error(method + ": " + answer["error"].dump());
      return answer.at("result");
    }
  }

  std::string next_message() {
    size_t end;
    while ((end = received_.find('\0')) == std::string::npos) {
      struct pollfd ready {
        out_, POLLIN, 0
      };
      char bytes[65536];
      const ssize_t count = poll(&ready, 1, 60'000) == 1 ? read(out_, bytes, sizeof bytes) : 0;
      if (count <= 0) throw std::runtime_error("the browser doesn't answer");
      received_.append(bytes, static_cast<size_t>(count));
    }
    const std::string message = received_.substr(0, end);
    received_.erase(0, end + 1);
    return message;
  }

  pid_t process_ = 0;
  int in_ = -1, out_ = -1, last_id_ = 0;
  std::string session_, received_;
  const TemporaryFolder profile_;
};

// Tests of pages in a browser; skipped without a browser or the renderer of charts.
class InBrowser : public testing::Test {
 protected:
  void SetUp() override {
    if (Browser::program().empty())
      GTEST_SKIP() << "no browser: apt-get install chromium-headless-shell (Debian), or chromium";
    if (std::system(SOURCE_DIR "/.venv/bin/python -c 'import vl_convert' 2>/dev/null") != 0)
      GTEST_SKIP() << "no renderer: ./run_matrix once without --no-install";
    browser.emplace(Browser::program());
    browser->resize(1400, 1000);
  }

  // Opens the page and waits until its charts are drawn.
  void open_page(const std::filesystem::path& file) {
    browser->open(file);
    ASSERT_TRUE(browser->wait_for(kDone)) << data("lastError");
  }
  // What the page's script notes about itself.
  std::string data(const std::string& name) {
    return browser->evaluate("document.documentElement.dataset." + name).dump();
  }
  void expect_sound(size_t figures) {
    EXPECT_EQ(data("figures"), '"' + std::to_string(figures) + '"');
    EXPECT_EQ(data("errors"), "\"0\"") << data("lastError");
    EXPECT_EQ(browser->evaluate("document.querySelectorAll('figure svg.marks').length"), figures);
    for (const std::string& address : browser->requests) EXPECT_NE(address.rfind("http", 0), 0u) << address;
  }
  // Moves the mouse to the point that the expression gives and returns the text that appears there.
  std::string text_under_mouse(const std::string& expression) {
    const nlohmann::json place = browser->evaluate(expression);
    EXPECT_TRUE(place.is_array()) << place;
    browser->move_mouse(1, 1);
    browser->move_mouse(place.at(0), place.at(1));
    EXPECT_TRUE(browser->wait_for("document.querySelector('#vg-tooltip-element.visible')"));
    return browser->evaluate("document.getElementById('vg-tooltip-element').textContent");
  }

  static constexpr auto kDone = "document.documentElement.dataset.drawnMs";
  std::optional<Browser> browser;
};
