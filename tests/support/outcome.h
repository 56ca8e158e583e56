// What a started program leaves: its exit code, and the content of its files.
#pragma once
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

// 128 + the number of a signal that ended it.
inline int exit_code_of(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Empty without the file.
inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
