/* inject CALLS N ACTION FILE COMMAND..: runs COMMAND, and makes its Nth system call of CALLS fail, or sends a signal there.
 *
 * CALLS   rename | sync | unlink | write | create: calls of that kind, in all threads; of writes those to regular files
 *         any: every call, in all threads
 * N       1 for the first; 0 for none
 * ACTION  fail: the call does nothing and gives EIO (ENOSPC for write and create)
 *         KILL | TERM | INT: this signal comes before the call
 * FILE    takes the number of such calls
 *
 * The exit status is COMMAND's, 128 + the signal that ended it, or 120 when this program fails. Calls are seen by ptrace, since some libraries
 * make them without the C library. Linux on x86-64. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* glibc names it so, since <linux/ptrace.h> and <sys/ptrace.h> do not go together. */
typedef struct __ptrace_syscall_info syscall_info;

static const struct { const char *kind; long number; int error; } CALLS[] = {
    {"rename", SYS_rename, EIO},   {"rename", SYS_renameat, EIO},   {"rename", SYS_renameat2, EIO},
    {"rename", SYS_link, EIO},     {"rename", SYS_linkat, EIO},     {"sync", SYS_fsync, EIO},
    {"sync", SYS_fdatasync, EIO},  {"unlink", SYS_unlink, EIO},     {"unlink", SYS_unlinkat, EIO},
    {"unlink", SYS_rmdir, EIO},    {"write", SYS_write, ENOSPC},    {"write", SYS_pwrite64, ENOSPC},
    {"write", SYS_writev, ENOSPC}, {"create", SYS_openat, ENOSPC}, {"create", SYS_mkdir, ENOSPC},
    {"create", SYS_mkdirat, ENOSPC},
};

static void fail(const char *what) {
    perror(what);
    exit(120);
}

/* The error for a call of the kind, 0 for another call. */
static int matches(const char *kind, pid_t thread, const syscall_info *call) {
    if (strcmp(kind, "any") == 0)
        return EIO;
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
        if (CALLS[i].number != (long)call->entry.nr || strcmp(CALLS[i].kind, kind) != 0)
            continue;
        if (strcmp(kind, "write") == 0) {
            char name[64];
            struct stat found;
            snprintf(name, sizeof name, "/proc/%d/fd/%d", thread, (int)call->entry.args[0]);
            if (stat(name, &found) != 0 || !S_ISREG(found.st_mode))
                return 0;
        }
        if (call->entry.nr == SYS_openat && !(call->entry.args[2] & O_CREAT))
            return 0;
        return CALLS[i].error;
    }
    return 0;
}

/* The signal of an action, 0 for that of `fail`. */
static int signal_of(const char *action) {
    static const struct { const char *action; int signal; } SIGNALS[] = {{"KILL", SIGKILL}, {"TERM", SIGTERM}, {"INT", SIGINT}};
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++) {
        if (strcmp(SIGNALS[i].action, action) == 0)
            return SIGNALS[i].signal;
    }
    return 0;
}

int main(int count, char **arguments) {
    if (count < 6) {
        fprintf(stderr, "usage: inject rename|sync|unlink|write|create|any N fail|KILL|TERM|INT FILE COMMAND..\n");
        return 120;
    }
    const char *kind = arguments[1];
    const long wanted = atol(arguments[2]);
    const int sent = signal_of(arguments[3]);
    const pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execvp(arguments[5], arguments + 5);
        fail(arguments[5]);
    }
    int status;
    if (waitpid(child, &status, 0) != child)
        fail("waitpid");
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, child, 0, options) != 0)
        fail("ptrace");
    ptrace(PTRACE_SYSCALL, child, 0, 0);
    long seen = 0;
    pid_t failing = 0; /* the thread whose call is to fail, and its error */
    int error = 0, result = 120, running = 0;
    for (;;) {
        const pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0)
            break;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread == child)
                result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        int signal = WSTOPSIG(status);
        if (signal == (SIGTRAP | 0x80)) {
            syscall_info call;
            ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof call, &call);
            if (call.op == PTRACE_SYSCALL_INFO_ENTRY) {
                const int found = running ? matches(kind, thread, &call) : 0;
                if (found != 0 && ++seen == wanted) {
                    if (sent != 0) {
                        kill(child, sent);
                    } else {
                        failing = thread, error = found;
                        ptrace(PTRACE_POKEUSER, thread, offsetof(struct user_regs_struct, orig_rax), -1L);
                    }
                }
            } else if (thread == failing) {
                ptrace(PTRACE_POKEUSER, thread, offsetof(struct user_regs_struct, rax), (long)-error);
                failing = 0;
            }
            signal = 0;
        } else if (signal == SIGTRAP || signal == SIGSTOP) {
            running |= status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
            signal = 0; /* of a new thread, or of execve */
        }
        ptrace(PTRACE_SYSCALL, thread, 0, (long)signal);
    }
    FILE *file = fopen(arguments[4], "w");
    if (file == NULL || fprintf(file, "%ld\n", seen) < 0 || fclose(file) != 0)
        fail(arguments[4]);
    return result;
}
