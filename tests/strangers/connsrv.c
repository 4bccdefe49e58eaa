/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A server with a name in the file system.  Each opener of the name has
 * a pipe of its own to the server: connld sees to that.  What one client says
 * is told to all, behind its number.
 */
#include <sys/types.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

enum { CLIENTS = 5, LINES = 8 };

static char name[] = "/tmp/connsrv.XXXXXX";

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    fdetach(name);
    unlink(name);
    exit(EXIT_FAILURE);
}

/* Join, wait for the others, talk, and hear everything that is said. */
static int client(int number)
{
    char line[64], all[64];
    int heard = 0, i, n;
    int fd = open(name, O_RDWR);

    if (fd < 0)
        return 10;
    if (isastream(fd) != 1)
        return 11;
    /* message non-discard: a read gives one message, or part of it */
    if (ioctl(fd, I_SRDOPT, RMSGN) < 0)
        return 14;
    if (read(fd, all, sizeof all) != 3 || memcmp(all, "go\n", 3) != 0)
        return 12;
    for (i = 0; i < LINES; i++) {
        n = sprintf(line, "line %d of %d", i, number);
        if (write(fd, line, n) != n)
            return 13;
    }
    while (heard < CLIENTS * LINES) {
        n = read(fd, all, sizeof all - 1);
        if (n <= 0)
            return 15;
        all[n] = '\0';
        if (strstr(all, ": line ") == NULL)
            return 16;
        heard++;
    }
    return 0;
}

static void server(int lfd)
{
    struct pollfd pfd[1 + CLIENTS];
    struct strrecvfd rfd;
    char line[64], out[128];
    int joined = 0, gone = 0, n, i, k;

    pfd[0].fd = lfd;
    pfd[0].events = POLLIN;
    while (gone < CLIENTS) {
        n = poll(pfd, 1 + joined, 10000);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            fail("poll");
        if (pfd[0].revents & POLLIN) {
            if (ioctl(lfd, I_RECVFD, &rfd) < 0)
                fail("I_RECVFD");
            if (rfd.uid != geteuid() || rfd.gid != getegid())
                fail("uid");
            if (joined == CLIENTS)
                fail("too many");
            joined++;
            pfd[joined].fd = rfd.fd;
            pfd[joined].events = POLLIN | POLLPRI;
            pfd[joined].revents = 0;
            if (joined == CLIENTS)
                for (i = 1; i <= CLIENTS; i++)
                    if (write(pfd[i].fd, "go\n", 3) != 3)
                        fail("go");
        } else if (pfd[0].revents != 0)
            fail("the name is gone");
        for (i = 1; i <= joined; i++) {
            if (pfd[i].fd < 0)
                continue;
            if (pfd[i].revents & POLLIN) {
                struct strbuf dat = { sizeof line, 0, line };
                int flags = 0;

                if (getmsg(pfd[i].fd, NULL, &dat, &flags) != 0)
                    fail("getmsg");
                if (dat.len == 0) {
                    close(pfd[i].fd);
                    pfd[i].fd = -1;
                    gone++;
                    continue;
                }
                dat.len = sprintf(out, "%d: %.*s", i, dat.len, line);
                dat.buf = out;
                for (k = 1; k <= CLIENTS; k++)
                    if (pfd[k].fd >= 0 &&
                        putmsg(pfd[k].fd, NULL, &dat, 0) < 0 &&
                        errno != EPIPE)
                        fail("putmsg");
            } else if (pfd[i].revents & POLLHUP) {
                close(pfd[i].fd);
                pfd[i].fd = -1;
                gone++;
            } else if (pfd[i].revents & (POLLERR | POLLNVAL))
                fail("poll: error");
        }
    }
}

int main(void)
{
    int fds[2], file, i, status, bad = 0;
    struct stat before, after;

    if ((file = mkstemp(name)) < 0)
        fail("mkstemp");
    fstat(file, &before);
    close(file);
    signal(SIGPIPE, SIG_IGN);
    if (pipe(fds) < 0)
        fail("pipe");
    if (ioctl(fds[1], I_PUSH, "connld") < 0)
        fail("I_PUSH connld");
    if (fattach(fds[1], name) < 0)
        fail("fattach");
    if (fattach(fds[1], "/nowhere/at/all") == 0 || errno != ENOENT)
        fail("fattach to nothing");
    for (i = 0; i < CLIENTS; i++)
        switch (fork()) {
        case -1:
            fail("fork");
        case 0:
            close(fds[0]);
            close(fds[1]);
            _exit(client(i));
        }
    close(fds[1]); /* the name holds it */
    server(fds[0]);
    for (i = 0; i < CLIENTS; i++)
        if (wait(&status) < 0 || status != 0) {
            fprintf(stderr, "a client: status %x\n", status);
            bad = 1;
        }
    if (fdetach(name) < 0)
        fail("fdetach");
    if (fdetach(name) == 0 || errno != EINVAL)
        fail("fdetach twice");
    /* the file is itself again, and the other end of the pipe is gone */
    if ((file = open(name, O_RDWR)) < 0 || isastream(file) != 0 ||
        fstat(file, &after) < 0 || after.st_ino != before.st_ino)
        fail("the file under the name");
    {
        struct pollfd p = { fds[0], POLLIN, 0 };

        if (poll(&p, 1, 5000) != 1 || !(p.revents & POLLHUP))
            fail("no hangup after fdetach");
    }
    unlink(name);
    return bad;
}
