// A folder that no other user can reach, in a place where everybody may write (/dev/shm, /tmp).
#pragma once
#include <filesystem>

namespace base {

// The calling user's folder in `place`, made when it isn't there: owned by the user, mode 0700, and no
// symbolic link. The same for all programs of the user; when another user has taken its name, one with a
// random ending. Throws std::runtime_error with the next step when there can't be one.
std::filesystem::path private_folder(const std::filesystem::path& place);

}  // namespace base
