/* The code that the C programs share. README.md describes the programs.

   A program includes this file first, and defines the functions that are declared under
   "Functions of a library". */

#ifndef BENCH_H
#define BENCH_H

#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BENCH_PATH "/org/diligence/Bench"
#define BENCH_INTERFACE "org.diligence.Bench1"
#define BENCH_METHOD "Echo"
#define BENCH_SIGNAL "Sample"

#define WARM_UP_CALLS_MAX 100
#define FLUSH_EACH_BYTES (8 * 1024 * 1024)
#define SIGNAL_OVERHEAD_BYTES 128
#define SILENCE_NS (2 * UINT64_C(1000000000))
#define FIRST_SIGNAL_NS (25 * UINT64_C(1000000000))
/* Interval of checks for silence while waiting for signals. */
#define LOOK_EACH_MS 100

/* Maximum count of a measurement. That many durations still fit into memory. */
#define COUNT_MAX UINT64_C(100000000)
/* Maximum length of an array: 64 MiB. */
#define BYTES_MAX (UINT64_C(64) * 1024 * 1024)

/* Functions of a library. */

struct connection;
struct listening;

enum emission { EMITTED, REFUSED };

/* Connects to the bus and calls Hello. */
static struct connection *connect_to(const char *address);
static const char *unique_name(struct connection *connection);
/* Registers the object, whose calls the loop answers. */
static void add_echo(struct connection *connection);
/* Runs the main loop of the library forever. */
_Noreturn static void serve_calls(struct connection *connection);
/* Calls Echo, and checks the reply. */
static void call_echo(struct connection *connection, const char *destination, const char *text);
static enum emission emit_sample(struct connection *connection, uint64_t sent_ns,
                                 const uint8_t *payload, size_t size);
/* Waits until all emitted signals were sent. */
static void flush_samples(struct connection *connection);
/* Adds a match rule, calls listening_ready(), and then listening_take() for each signal until
   listening_over(). */
static void listen_to_samples(struct connection *connection, const char *sender,
                              struct listening *listening);

/* Errors, time and numbers. */

_Noreturn static inline void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static inline uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline void *allocate(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);
    if (memory == NULL)
        fail("there is no memory for %zu bytes", size);
    return memory;
}

static inline uint64_t parse_number(const char *text, uint64_t min, uint64_t max)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || number < min || number > max)
        fail("%s is not a number from %" PRIu64 " to %" PRIu64, text, min, max);
    return number;
}

static inline uint64_t between(uint64_t min, uint64_t number, uint64_t max)
{
    return number < min ? min : number > max ? max : number;
}

static inline int compare_ns(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static inline void sort_ns(uint64_t *durations, uint64_t count)
{
    qsort(durations, count, sizeof *durations, compare_ns);
}

/* The smallest of the sorted durations that this percentage of them does not exceed. */
static inline uint64_t percentile(const uint64_t *sorted, uint64_t count, uint64_t percent)
{
    return count == 0 ? 0 : sorted[(count * percent + 99) / 100 - 1];
}

/* Standard input and output. */

static inline void print_line(const char *line)
{
    puts(line);
    fflush(stdout);
}

/* Waits for a line. Returns false at the end of the input. */
static inline bool read_line(void)
{
    int byte;
    do {
        byte = getchar();
    } while (byte != EOF && byte != '\n');
    return byte == '\n';
}

/* Receiving of signals. */

struct listening {
    uint64_t expected;
    uint64_t received;
    uint64_t started_ns;
    uint64_t first_sent_ns;
    uint64_t last_received_ns;
    uint64_t bytes;
    uint64_t *delays;
};

static inline void listening_ready(struct listening *listening)
{
    print_line("ready");
    listening->started_ns = now_ns();
}

static inline void listening_take(struct listening *listening, uint64_t sent_ns, size_t size)
{
    uint64_t now = now_ns();
    if (listening->received == listening->expected)
        return;
    if (listening->received == 0)
        listening->first_sent_ns = sent_ns;
    listening->delays[listening->received++] = now - sent_ns;
    listening->last_received_ns = now;
    listening->bytes += size;
}

static inline bool listening_over(const struct listening *listening)
{
    if (listening->received == listening->expected)
        return true;
    if (listening->received == 0)
        return now_ns() - listening->started_ns > FIRST_SIGNAL_NS;
    return now_ns() - listening->last_received_ns > SILENCE_NS;
}

static inline void listening_report(struct listening *listening)
{
    uint64_t sum = 0, received = listening->received;
    for (uint64_t i = 0; i < received; i++)
        sum += listening->delays[i];
    sort_ns(listening->delays, received);
    printf("{\"received\":%" PRIu64 ",\"elapsed_ns\":%" PRIu64 ",\"delay_mean_ns\":%" PRIu64
           ",\"delay_p99_ns\":%" PRIu64 ",\"bytes\":%" PRIu64 "}\n",
           received, listening->last_received_ns - listening->first_sent_ns,
           received > 0 ? sum / received : 0, percentile(listening->delays, received, 99),
           listening->bytes);
    fflush(stdout);
}

/* The modes of the program. */

static inline void serve(const char *address)
{
    struct connection *connection = connect_to(address);
    add_echo(connection);
    print_line(unique_name(connection));
    serve_calls(connection);
}

/* Calls `count` times, and reports. */
static inline void call_turn(struct connection *connection, const char *destination,
                             const char *text, uint64_t *durations, uint64_t count)
{
    uint64_t begin = now_ns(), before = begin;
    for (uint64_t i = 0; i < count; i++) {
        call_echo(connection, destination, text);
        uint64_t after = now_ns();
        durations[i] = after - before;
        before = after;
    }
    sort_ns(durations, count);
    printf("{\"calls\":%" PRIu64 ",\"elapsed_ns\":%" PRIu64 ",\"p50_ns\":%" PRIu64
           ",\"p99_ns\":%" PRIu64 "}\n",
           count, before - begin, percentile(durations, count, 50),
           percentile(durations, count, 99));
    fflush(stdout);
}

static inline void call(const char *address, const char *destination, uint64_t count, size_t length)
{
    struct connection *connection = connect_to(address);
    uint64_t *durations = allocate(count * sizeof *durations);
    uint64_t warm_up = between(1, count / 10, WARM_UP_CALLS_MAX);
    char *text = allocate(length + 1);
    memset(text, 'x', length);
    text[length] = '\0';
    for (uint64_t i = 0; i < warm_up; i++)
        call_echo(connection, destination, text);

    print_line("ready");
    while (read_line())
        call_turn(connection, destination, text, durations, count);
}

static inline void emit(const char *address, uint64_t count, size_t size)
{
    struct connection *connection = connect_to(address);
    uint8_t *payload = allocate(size);
    uint64_t sent = 0, queued_bytes = 0;
    memset(payload, 'x', size);

    print_line(unique_name(connection));
    if (!read_line())
        fail("standard input ended before the line that starts the measurement");
    uint64_t begin = now_ns();
    for (uint64_t i = 0; i < count; i++) {
        sent += emit_sample(connection, now_ns(), payload, size) == EMITTED;
        queued_bytes += size + SIGNAL_OVERHEAD_BYTES;
        if (queued_bytes >= FLUSH_EACH_BYTES) {
            flush_samples(connection);
            queued_bytes = 0;
        }
    }
    flush_samples(connection);
    printf("{\"sent\":%" PRIu64 ",\"timeouts\":%" PRIu64 ",\"elapsed_ns\":%" PRIu64 "}\n", sent,
           count - sent, now_ns() - begin);
    fflush(stdout);
    while (getchar() != EOF)
        ;
}

static inline void listen_to(const char *address, const char *sender, uint64_t count)
{
    struct listening listening = {.expected = count, .delays = allocate(count * sizeof(uint64_t))};
    listen_to_samples(connect_to(address), sender, &listening);
    listening_report(&listening);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (argc == 3 && strcmp(mode, "serve") == 0)
        serve(argv[2]);
    else if (argc == 6 && strcmp(mode, "call") == 0)
        call(argv[2], argv[3], parse_number(argv[4], 1, COUNT_MAX),
             parse_number(argv[5], 0, BYTES_MAX));
    else if (argc == 5 && strcmp(mode, "emit") == 0)
        emit(argv[2], parse_number(argv[3], 1, COUNT_MAX), parse_number(argv[4], 0, BYTES_MAX));
    else if (argc == 5 && strcmp(mode, "listen") == 0)
        listen_to(argv[2], argv[3], parse_number(argv[4], 1, COUNT_MAX));
    else
        fail("usage: serve ADDRESS | call ADDRESS DESTINATION COUNT LENGTH"
             " | emit ADDRESS COUNT SIZE | listen ADDRESS SENDER COUNT");
    return 0;
}

#endif
