// Preloaded (LD_PRELOAD) into a user's job: lists the files that it opens for reading, also those that C++
// libraries open (image readers, LMDB, HDF5), of which Python's audit events tell nothing. The probe
// (bench/probe) asks for them.
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE  // which declares some of these functions inline
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static const size_t kMost = 64 << 20;  // bytes

static atomic_bool listing;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char* lines;  // of paths, and what of them is used and allocated
static size_t used, allocated;

static bool has_room_for(size_t size) {
  if (used + size <= allocated) return true;
  if (used + size > kMost) return false;
  char* larger = realloc(lines, 2 * (used + size));
  if (!larger) return false;
  lines = larger;
  allocated = 2 * (used + size);
  return true;
}

static void note(int folder, const char* path, int flags) {
  if (!atomic_load(&listing) || !path || (flags & O_ACCMODE) != O_RDONLY || flags & O_DIRECTORY) return;
  if (folder != AT_FDCWD && path[0] != '/') return;
  const size_t size = strlen(path);
  pthread_mutex_lock(&mutex);
  if (has_room_for(size + 1)) {
    memcpy(lines + used, path, size);
    lines[used + size] = '\n';
    used += size + 1;
  }
  pthread_mutex_unlock(&mutex);
}

// From here on, or no longer, in the whole process.
void run_matrix_list_opens(int on) { atomic_store(&listing, on != 0); }

// Moves what was opened since the last call to `to`, a path a line, the last ones first if `size` bytes don't
// hold all. Returns their bytes; 0: no more.
size_t run_matrix_take_opens(char* to, size_t size) {
  pthread_mutex_lock(&mutex);
  size_t begin = used > size ? used - size : 0;
  while (begin > 0 && begin < used && lines[begin - 1] != '\n') ++begin;
  const size_t taken = used - begin;
  if (taken > 0) memcpy(to, lines + begin, taken);
  used = begin;
  pthread_mutex_unlock(&mutex);
  return taken;
}

static int mode_of(int flags, va_list arguments) {
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, int) : 0;
}

// Each call finds the function that it replaces at its first use.
#define NEXT(type, name) \
  static type next;      \
  if (!next) next = (type)dlsym(RTLD_NEXT, #name);

typedef int (*Open)(const char*, int, ...);
typedef int (*OpenAt)(int, const char*, int, ...);
typedef FILE* (*OpenStream)(const char*, const char*);

// `folder`: that a relative path is in; then the parameters, and those of them that come before the mode.
#define LIST_OPEN(name, type, folder, parameters, ...) \
  int name parameters {                                \
    NEXT(type, name)                                   \
    va_list optional;                                  \
    va_start(optional, flags);                         \
    const int mode = mode_of(flags, optional);         \
    va_end(optional);                                  \
    note(folder, path, flags);                         \
    return next(__VA_ARGS__, mode);                    \
  }
#define IN_WORKING_FOLDER(name) \
  LIST_OPEN(name, Open, AT_FDCWD, (const char* path, int flags, ...), path, flags)
#define IN_FOLDER(name) \
  LIST_OPEN(name, OpenAt, folder, (int folder, const char* path, int flags, ...), folder, path, flags)
#define LIST_FOPEN(name)                                            \
  FILE* name(const char* path, const char* mode) {                  \
    NEXT(OpenStream, name)                                          \
    note(AT_FDCWD, path, strpbrk(mode, "wa+") ? O_RDWR : O_RDONLY); \
    return next(path, mode);                                        \
  }

IN_WORKING_FOLDER(open)
IN_WORKING_FOLDER(open64)
IN_FOLDER(openat)
IN_FOLDER(openat64)
IN_WORKING_FOLDER(__open_2)  // of programs built with _FORTIFY_SOURCE
IN_WORKING_FOLDER(__open64_2)
LIST_FOPEN(fopen)
LIST_FOPEN(fopen64)
