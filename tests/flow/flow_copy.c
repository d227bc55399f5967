/* What the transport itself can do: one process writes, another reads, and nothing looks at the bytes.
 *
 *     flow_copy pipe|socketpair BYTES BLOCK [PIPE_SIZE]   prints millions of bytes a second
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void resize(int fd, int is_socket, int size)
{
    if (is_socket) {
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    } else {
        fcntl(fd, F_SETPIPE_SZ, size);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    int is_socket = strcmp(argv[1], "socketpair") == 0, fds[2];
    long long left = atoll(argv[2]), total = left;
    size_t block = (size_t)atoll(argv[3]);
    if ((is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, fds) : pipe(fds)) != 0) return 1;
    for (int i = 0; i < 2 && argc > 4; i++) resize(fds[i], is_socket, atoi(argv[4]));
    char *data = calloc(1, block);
    double begin = now();
    if (data == NULL) return 1;
    if (fork() == 0) {
        close(fds[0]);
        while (left > 0) {
            ssize_t n = write(fds[1], data, left < (long long)block ? (size_t)left : block);
            if (n < 0) _exit(1);
            left -= n;
        }
        _exit(0);
    }
    close(fds[1]);
    for (ssize_t n; left > 0 && (n = read(fds[0], data, block)) > 0;) left -= n;
    double seconds = now() - begin;
    wait(NULL);
    printf("%.0f\n", (double)total / seconds / 1e6);
    return left == 0 ? 0 : 1;
}
