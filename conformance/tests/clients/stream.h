/* The part of the C programs that does not depend on a library, like stream.py, which describes the
   programs. A program includes this file and defines the functions that are declared first. */

#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "com.example.Stream"
#define PATH "/com/example/Stream"
#define INTERFACE "com.example.Stream1"

enum { SMALL_BODY = 100, LARGE_BODY = 300000, LARGE_EACH = 20, DESCRIPTOR_EACH = 10 };

static void connect_to(const char *address);
/* Owns the name, prints "ready", and gives all messages to the take functions. */
static void serve(void);
static void emit(const char *member, uint32_t number);
/* Makes a call and returns the number in the reply. The descriptor may be -1. */
static uint32_t call(const char *member, uint32_t number, const uint8_t *body, size_t size,
                     int descriptor);
static void flush(void);

/* Messages that the service has received, and messages that the other program has sent. */
static uint32_t signals, calls, sent;

_Noreturn static inline void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%" PRIu32 " signals and %" PRIu32 " calls received, %" PRIu32 " sent: ",
            signals, calls, sent);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static inline size_t body_of(uint32_t number, uint8_t *body)
{
    size_t size = number % LARGE_EACH == 0 ? LARGE_BODY : SMALL_BODY;
    memset(body, (int)(number % 251), size);
    return size;
}

static inline void take_signal(uint32_t number)
{
    if (number != signals)
        fail("signal %" PRIu32 " arrived", number);
    signals++;
}

/* Checks a call. The caller closes the descriptor, which may be -1. */
static inline void take_call(uint32_t number, const uint8_t *body, size_t size, int descriptor)
{
    static uint8_t expected[LARGE_BODY];
    if (number != calls)
        fail("call %" PRIu32 " arrived", number);
    calls++;
    if (signals != calls)
        fail("call %" PRIu32 " arrived before its signal", number);
    if (size != body_of(number, expected) || memcmp(body, expected, size) != 0)
        fail("call %" PRIu32 " has another body of %zu bytes", number, size);
    if ((descriptor >= 0) != (number % DESCRIPTOR_EACH == 0))
        fail("call %" PRIu32 " has descriptor %d", number, descriptor);
    if (descriptor >= 0) {
        uint32_t content;
        if (read(descriptor, &content, sizeof content) != sizeof content || content != number)
            fail("call %" PRIu32 " has a descriptor with other content", number);
    }
}

static inline void take_end(uint32_t count)
{
    if (count != signals || count != calls)
        fail("%" PRIu32 " signals and calls were sent", count);
    printf("ok %" PRIu32 "\n", count);
    exit(0);
}

static inline bool input_ended(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) > 0;
}

static inline void stream(void)
{
    static uint8_t body[LARGE_BODY];
    for (; !input_ended(); sent++) {
        uint32_t returned;
        size_t size = body_of(sent, body);
        emit("Numbered", sent);
        if (sent % DESCRIPTOR_EACH == 0) {
            int ends[2];
            if (pipe(ends) != 0 || write(ends[1], &sent, sizeof sent) != sizeof sent)
                fail("no pipe can be created");
            close(ends[1]);
            returned = call("EchoFile", sent, body, size, ends[0]);
            close(ends[0]);
        } else {
            returned = call("Echo", sent, body, size, -1);
        }
        if (returned != sent)
            fail("the call returned %" PRIu32, returned);
    }
    emit("Done", sent);
    flush();
}

int main(int argc, char **argv)
{
    if (argc != 3)
        fail("usage: serve ADDRESS | stream ADDRESS");
    connect_to(argv[2]);
    strcmp(argv[1], "serve") == 0 ? serve() : stream();
    return 0;
}
