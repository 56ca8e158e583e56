// A library for LD_PRELOAD that counts a program's calls to the system and lets one of them fail, be shortened, come late
// or end the program. tests/faults/run sets the variables and reads what it writes:
//   FAULTS_FOLDER   each process keeps its counts in FOLDER/counts.PROGRAM.PID, one 8-byte number per kind of call in the
//                   order of FOLDER/kinds, in a shared mapping, so that they outlive a kill
//   FAULTS_PLACES   if set, each process also writes FOLDER/places.PROGRAM.PID: a line "KIND PLACE" for each place in the
//                   program, a hash of the functions on the stack, from which it makes that kind of call
//   FAULTS_PLAN     "PROGRAM KIND WHICH ERRNO": a call of that kind in a process of that program fails, in the first process
//                   that reaches it. WHICH is a number, the NUMBERth call of that kind, or "@PLACE", the first from that
//                   place. Instead of an errno: "short" (half of the bytes are written), "late" (the call is made a second
//                   later), "kill" (SIGKILL in the place of the call). FOLDER/hit then holds the process, and the file or
//                   address that the call was for.
// KIND clock: from that call on the time of day is ERRNO seconds later, as when somebody sets the clock.
// Calls within libc itself (fopen's own open) don't come by here, which is why fopen is a kind of its own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum Kind { WRITE, TELL, SEND, READ, FSYNC, RENAME, OPEN, FOPEN, MKDIR, UNLINK, MMAP, FTRUNCATE, PIPE, FORK, EXEC, SOCKET, BIND,
            CONNECT, THREAD, MALLOC, CLOCK, KINDS };
static const char* const kinds[KINDS] = {"write", "tell", "send", "read", "fsync", "rename", "open", "fopen", "mkdir", "unlink",
    "mmap", "ftruncate", "pipe", "fork", "exec", "socket", "bind", "connect", "thread", "malloc", "clock"};
enum { kFrames = 16 };
enum { kLargeBytes = 1 << 16 };  // smaller allocations are not counted: a program makes millions, and any may abort

static _Atomic uint64_t* counts;
static pid_t owner;  // a child between fork and exec counts for itself
static char folder[512], program[64];
static int planned = KINDS, error_number, lists_places;
static uint64_t planned_number, planned_place;
static _Atomic uint64_t known_places[1 << 14];
static enum { FAIL, SHORT, LATE, KILL } how;

static long raw_open(const char* path, int flags) { return syscall(SYS_openat, AT_FDCWD, path, flags, 0644); }

static void map_counts(void) {
  char path[640];
  owner = (pid_t)syscall(SYS_getpid);
  snprintf(path, sizeof path, "%s/counts.%s.%d", folder, program, owner);
  const long fd = raw_open(path, O_RDWR | O_CREAT | O_CLOEXEC);
  counts = NULL;
  if (fd < 0) return;
  void* mapped = (void*)-1;
  if (syscall(SYS_ftruncate, fd, (long)(KINDS * sizeof *counts)) == 0)
    mapped = (void*)syscall(SYS_mmap, NULL, KINDS * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
  syscall(SYS_close, fd);
  if (mapped != (void*)-1) counts = mapped;
}

// The functions that led here, by their distance from the start of their library: the same in each run of a program.
static uint64_t place_of(enum Kind kind) {
  void* at[kFrames];
  const int frames = backtrace(at, kFrames);
  uint64_t hash = 14695981039346656037u + (uint64_t)kind;
  for (int i = 0; i < frames; ++i) {
    struct dl_find_object object;  // takes no lock, as a child of fork() must not
    const uint64_t base = _dl_find_object(at[i], &object) == 0 ? object.dlfo_link_map->l_addr : (uint64_t)at[i];
    hash = (hash ^ ((uint64_t)at[i] - base)) * 1099511628211u;
    hash ^= hash >> 29;
  }
  return hash | 1;
}

static void list_place(enum Kind kind, uint64_t place) {
  for (uint64_t i = place; ; ++i) {
    uint64_t none = 0;
    _Atomic uint64_t* entry = &known_places[i % (sizeof known_places / sizeof *known_places)];
    if (atomic_compare_exchange_strong(entry, &none, place)) break;
    if (none == place) return;
  }
  char path[640], line[64];
  snprintf(path, sizeof path, "%s/places.%s.%d", folder, program, owner);
  const int bytes = snprintf(line, sizeof line, "%s %llx\n", kinds[kind], (unsigned long long)place);
  const long list = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  syscall(SYS_write, list, line, (long)bytes);
  syscall(SYS_close, list);
}

__attribute__((constructor)) static void begin(void) {
  const char* place = getenv("FAULTS_FOLDER");
  if (!place) return;
  snprintf(folder, sizeof folder, "%s", place);
  char names[640];
  snprintf(names, sizeof names, "%s/kinds", folder);
  const long list = syscall(SYS_openat, AT_FDCWD, names, O_WRONLY | O_CREAT | O_EXCL, 0644);
  for (int kind = 0; list >= 0 && kind < KINDS; ++kind) {
    syscall(SYS_write, list, kinds[kind], strlen(kinds[kind]));
    syscall(SYS_write, list, " ", 1L);
  }
  if (list >= 0) syscall(SYS_close, list);
  snprintf(program, sizeof program, "%.60s", program_invocation_short_name);
  for (char* c = program; *c; ++c) if (*c == '.' || *c == ' ' || *c == '/') *c = '_';
  const char* plan = getenv("FAULTS_PLAN");
  char wanted[64], kind[32], which[32], effect[32];
  if (plan && sscanf(plan, "%63s %31s %31s %31s", wanted, kind, which, effect) == 4 && strcmp(wanted, program) == 0) {
    if (*which == '@') planned_place = strtoull(which + 1, NULL, 16);
    else planned_number = strtoull(which, NULL, 10);
    how = strcmp(effect, "short") == 0 ? SHORT : strcmp(effect, "late") == 0 ? LATE : strcmp(effect, "kill") == 0 ? KILL : FAIL;
    error_number = atoi(effect);
    for (planned = 0; planned < KINDS && strcmp(kinds[planned], kind) != 0;) ++planned;
  }
  lists_places = getenv("FAULTS_PLACES") != NULL;
  void* first[1];
  backtrace(first, 1);  // loads a library
  map_counts();
}

// Whether this is the call that fails; with LATE and KILL, it has happened when this returns.
static int is_it(enum Kind kind, const char* what, int fd) {
  if (!counts || kind == KINDS) return 0;
  if ((pid_t)syscall(SYS_getpid) != owner) {
    map_counts();
    if (!counts) return 0;
  }
  const uint64_t number = atomic_fetch_add(&counts[kind], 1) + 1;
  const int before = errno;
  const uint64_t place = lists_places || planned_place ? place_of(kind) : 0;
  if (lists_places) list_place(kind, place);
  errno = before;
  if ((int)kind != planned || (planned_place ? place != planned_place : number != planned_number)) return 0;
  char path[640], name[512] = "", text[1400];
  snprintf(path, sizeof path, "%s/hit", folder);
  const long hit = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (hit < 0) {  // another process came first
    errno = before;
    return 0;
  }
  if (fd >= 0 && (!what || *what != '/')) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const long bytes = syscall(SYS_readlinkat, AT_FDCWD, link, name, sizeof name - 1);
    name[bytes > 0 ? bytes : 0] = 0;
  }
  const int bytes = snprintf(text, sizeof text, "%s %d %s%s%s\n", program, owner, name, *name && what ? "/" : "",
                             what ? what : "");
  syscall(SYS_write, hit, text, bytes < (int)sizeof text ? bytes : (int)sizeof text - 1);
  syscall(SYS_close, hit);
  if (how == KILL) syscall(SYS_kill, owner, SIGKILL);
  if (how == LATE) {
    const struct timespec second = {1, 0};
    syscall(SYS_nanosleep, &second, NULL);
    errno = before;
    return 0;
  }
  errno = how == FAIL ? error_number : before;
  return 1;
}

// Writing to a file, telling a pipe's reader, or sending to a socket; libraries' own signals (eventfd) are none of them.
static enum Kind kind_of(int fd) {
  const int before = errno;
  struct stat facts;
  const int unknown = fstat(fd, &facts);
  errno = before;
  if (unknown || (facts.st_mode & S_IFMT) == 0) return KINDS;
  return S_ISSOCK(facts.st_mode) ? SEND : S_ISFIFO(facts.st_mode) ? TELL : WRITE;
}

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void* data, size_t bytes) {
  REAL(write);
  if (!is_it(kind_of(fd), NULL, fd)) return real(fd, data, bytes);
  return how == SHORT ? real(fd, data, (bytes + 1) / 2) : -1;
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
  REAL(writev);
  if (!is_it(kind_of(fd), NULL, fd)) return real(fd, parts, count);
  return how == SHORT && count > 0 ? real(fd, parts, 1) : -1;
}
ssize_t send(int fd, const void* data, size_t bytes, int flags) {
  REAL(send);
  if (!is_it(SEND, NULL, fd)) return real(fd, data, bytes, flags);
  return how == SHORT ? real(fd, data, (bytes + 1) / 2, flags) : -1;
}
ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  REAL(sendmsg);
  return is_it(SEND, NULL, fd) && how == FAIL ? -1 : real(fd, message, flags);
}
#define PWRITE(name, offset_type) \
  ssize_t name(int fd, const void* data, size_t bytes, offset_type offset) { \
    REAL(name); \
    if (!is_it(WRITE, NULL, fd)) return real(fd, data, bytes, offset); \
    return how == SHORT ? real(fd, data, (bytes + 1) / 2, offset) : -1; \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)
ssize_t read(int fd, void* data, size_t bytes) {
  REAL(read);
  if (!is_it(READ, NULL, fd)) return real(fd, data, bytes);
  return how == SHORT ? real(fd, data, (bytes + 1) / 2) : -1;
}
int fsync(int fd) { REAL(fsync); return is_it(FSYNC, NULL, fd) ? -1 : real(fd); }
int fdatasync(int fd) { REAL(fdatasync); return is_it(FSYNC, NULL, fd) ? -1 : real(fd); }
int rename(const char* from, const char* to) { REAL(rename); return is_it(RENAME, to, -1) ? -1 : real(from, to); }
int renameat(int a, const char* from, int b, const char* to) {
  REAL(renameat);
  return is_it(RENAME, to, -1) ? -1 : real(a, from, b, to);
}

#define MODE(flags) \
  mode_t mode = 0; \
  if (__OPEN_NEEDS_MODE(flags)) { \
    va_list more; \
    va_start(more, flags); \
    mode = va_arg(more, mode_t); \
    va_end(more); \
  }
#define OPEN_AS(name) \
  int name(const char* path, int flags, ...) { \
    REAL(name); \
    MODE(flags) \
    return is_it(OPEN, path, -1) ? -1 : real(path, flags, mode); \
  }
OPEN_AS(open)
OPEN_AS(open64)
#define OPENAT_AS(name) \
  int name(int at, const char* path, int flags, ...) { \
    REAL(name); \
    MODE(flags) \
    return is_it(OPEN, path, at) ? -1 : real(at, path, flags, mode); \
  }
OPENAT_AS(openat)
OPENAT_AS(openat64)
FILE* fopen(const char* path, const char* mode) { REAL(fopen); return is_it(FOPEN, path, -1) ? NULL : real(path, mode); }
FILE* fopen64(const char* path, const char* mode) { REAL(fopen64); return is_it(FOPEN, path, -1) ? NULL : real(path, mode); }
int mkdir(const char* path, mode_t mode) { REAL(mkdir); return is_it(MKDIR, path, -1) ? -1 : real(path, mode); }
int unlink(const char* path) { REAL(unlink); return is_it(UNLINK, path, -1) ? -1 : real(path); }
int unlinkat(int at, const char* path, int flags) {
  REAL(unlinkat);
  return is_it(UNLINK, path, at) ? -1 : real(at, path, flags);
}
int remove(const char* path) { REAL(remove); return is_it(UNLINK, path, -1) ? -1 : real(path); }
void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  REAL(mmap);
  return is_it(MMAP, NULL, fd) ? MAP_FAILED : real(at, bytes, protection, flags, fd, offset);
}
void* mmap64(void* at, size_t bytes, int protection, int flags, int fd, off64_t offset) {
  REAL(mmap64);
  return is_it(MMAP, NULL, fd) ? MAP_FAILED : real(at, bytes, protection, flags, fd, offset);
}
int ftruncate(int fd, off_t bytes) { REAL(ftruncate); return is_it(FTRUNCATE, NULL, fd) ? -1 : real(fd, bytes); }
int ftruncate64(int fd, off64_t bytes) { REAL(ftruncate64); return is_it(FTRUNCATE, NULL, fd) ? -1 : real(fd, bytes); }
int pipe(int ends[2]) { REAL(pipe); return is_it(PIPE, "pipe", -1) ? -1 : real(ends); }
int pipe2(int ends[2], int flags) { REAL(pipe2); return is_it(PIPE, "pipe", -1) ? -1 : real(ends, flags); }

pid_t fork(void) { REAL(fork); return is_it(FORK, "another process", -1) ? -1 : real(); }
int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                char* const words[], char* const variables[]) {
  REAL(posix_spawn);
  return is_it(FORK, path, -1) ? error_number : real(pid, path, actions, attributes, words, variables);
}
int posix_spawnp(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                 char* const words[], char* const variables[]) {
  REAL(posix_spawnp);
  return is_it(FORK, path, -1) ? error_number : real(pid, path, actions, attributes, words, variables);
}
int execve(const char* path, char* const words[], char* const variables[]) {
  REAL(execve);
  return is_it(EXEC, path, -1) ? -1 : real(path, words, variables);
}
int execv(const char* path, char* const words[]) { REAL(execv); return is_it(EXEC, path, -1) ? -1 : real(path, words); }
int execvp(const char* path, char* const words[]) { REAL(execvp); return is_it(EXEC, path, -1) ? -1 : real(path, words); }

int socket(int domain, int type, int protocol) {
  REAL(socket);
  return is_it(SOCKET, "socket", -1) ? -1 : real(domain, type, protocol);
}
int bind(int fd, const struct sockaddr* address, socklen_t bytes) {
  REAL(bind);
  return is_it(BIND, "bind", -1) ? -1 : real(fd, address, bytes);
}
int connect(int fd, const struct sockaddr* address, socklen_t bytes) {
  REAL(connect);
  return is_it(CONNECT, "connect", -1) ? -1 : real(fd, address, bytes);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) {
  REAL(pthread_create);
  return is_it(THREAD, "thread", -1) ? error_number : real(thread, attributes, function, argument);
}
int clock_gettime(clockid_t clock, struct timespec* now) {
  REAL(clock_gettime);
  static _Atomic int set;
  if (clock == CLOCK_REALTIME && is_it(CLOCK, "clock", -1)) set = 1;
  const int failed = real(clock, now);
  if (clock == CLOCK_REALTIME && set) now->tv_sec += error_number;
  return failed;
}
void* malloc(size_t bytes) {
  extern void* __libc_malloc(size_t);
  return bytes >= kLargeBytes && is_it(MALLOC, "memory", -1) ? NULL : __libc_malloc(bytes);
}
int posix_memalign(void** at, size_t alignment, size_t bytes) {
  REAL(posix_memalign);
  return bytes >= kLargeBytes && is_it(MALLOC, "memory", -1) ? error_number : real(at, alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  REAL(aligned_alloc);
  return bytes >= kLargeBytes && is_it(MALLOC, "memory", -1) ? NULL : real(alignment, bytes);
}
