/* The workload with sd-bus: blocking calls, and its own loop for incoming messages. */

#include "bench.h"

#include <errno.h>
#include <systemd/sd-bus.h>

struct connection {
    sd_bus *bus;
};

/* Returns the result of a function of sd-bus. Exits if it is an error. */
static int checked(int result, const char *what)
{
    if (result < 0)
        fail("%s: %s", what, strerror(-result));
    return result;
}

static struct connection *connect_to(const char *address)
{
    struct connection *connection = allocate(sizeof *connection);
    checked(sd_bus_new(&connection->bus), "there is no memory for a connection");
    checked(sd_bus_set_address(connection->bus, address), "the address is not understood");
    checked(sd_bus_set_bus_client(connection->bus, 1), "the connection is not set up");
    checked(sd_bus_start(connection->bus), "there is no connection to the bus");
    return connection;
}

static const char *unique_name(struct connection *connection)
{
    const char *name;
    checked(sd_bus_get_unique_name(connection->bus, &name), "the bus does not give a name");
    return name;
}

/* Waits until a message arrives or `timeout_us` have passed, and handles one message. */
static void process(struct connection *connection, uint64_t timeout_us)
{
    if (checked(sd_bus_process(connection->bus, NULL), "the connection ended") == 0)
        checked(sd_bus_wait(connection->bus, timeout_us), "the connection ended");
}

static int answer(sd_bus_message *message, void *unused, sd_bus_error *error)
{
    const char *text;
    (void)unused;
    (void)error;
    checked(sd_bus_message_read(message, "s", &text), "a call cannot be read");
    return sd_bus_reply_method_return(message, "s", text);
}

static void add_echo(struct connection *connection)
{
    static const sd_bus_vtable members[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD(BENCH_METHOD, "s", "s", answer, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL(BENCH_SIGNAL, "tay", 0),
        SD_BUS_VTABLE_END,
    };
    checked(sd_bus_add_object_vtable(connection->bus, NULL, BENCH_PATH, BENCH_INTERFACE, members,
                                     NULL),
            "the object is not served");
}

_Noreturn static void serve_calls(struct connection *connection)
{
    for (;;)
        process(connection, UINT64_MAX);
}

static void call_echo(struct connection *connection, const char *destination, const char *text)
{
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    const char *back;
    int result = sd_bus_call_method(connection->bus, destination, BENCH_PATH, BENCH_INTERFACE,
                                    BENCH_METHOD, &error, &reply, "s", text);
    if (result < 0)
        fail("the call failed: %s", error.message != NULL ? error.message : strerror(-result));
    checked(sd_bus_message_read(reply, "s", &back), "the reply cannot be read");
    if (strcmp(back, text) != 0)
        fail("the reply carries a different text than the call");
    sd_bus_message_unref(reply);
}

static enum emission emit_sample(struct connection *connection, uint64_t sent_ns,
                                 const uint8_t *payload, size_t size)
{
    sd_bus_message *message = NULL;
    checked(sd_bus_message_new_signal(connection->bus, &message, BENCH_PATH, BENCH_INTERFACE,
                                      BENCH_SIGNAL),
            "there is no memory for a signal");
    checked(sd_bus_message_append(message, "t", sent_ns), "the signal cannot be written");
    checked(sd_bus_message_append_array(message, 'y', payload, size),
            "the signal cannot be written");
    int result = sd_bus_send(connection->bus, message, NULL);
    sd_bus_message_unref(message);
    /* The queue has a limit, and sd-bus does not wait when it is full. */
    if (result == -ENOBUFS)
        return REFUSED;
    checked(result, "the signal is not sent");
    return EMITTED;
}

static void flush_samples(struct connection *connection)
{
    checked(sd_bus_flush(connection->bus), "the signals are not sent");
}

static int take(sd_bus_message *message, void *listening, sd_bus_error *error)
{
    uint64_t sent_ns;
    const void *payload;
    size_t size;
    (void)error;
    checked(sd_bus_message_read(message, "t", &sent_ns), "a signal cannot be read");
    checked(sd_bus_message_read_array(message, 'y', &payload, &size), "a signal cannot be read");
    listening_take(listening, sent_ns, size);
    return 0;
}

static void listen_to_samples(struct connection *connection, const char *sender,
                              struct listening *listening)
{
    checked(sd_bus_match_signal(connection->bus, NULL, sender, BENCH_PATH, BENCH_INTERFACE,
                                BENCH_SIGNAL, take, listening),
            "the bus does not take the match rule");
    listening_ready(listening);
    while (!listening_over(listening))
        process(connection, LOOK_EACH_MS * 1000);
}
