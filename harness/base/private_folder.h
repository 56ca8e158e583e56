// A folder that no other user can access, inside a world-writable one (/dev/shm, /tmp).
#pragma once
#include <filesystem>

namespace base {

// The calling user's folder in `place`, created if missing: owned by the user, mode 0700, not a symbolic
// link. All programs of the user get the same folder. When another user has taken its name, the name gets a
// random suffix. Throws std::runtime_error with the next step when it can't be created.
std::filesystem::path private_folder(const std::filesystem::path& place);

}  // namespace base
