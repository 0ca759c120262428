/* The stream with sd-bus: blocking calls, and its own loop for incoming messages. */

#include "stream.h"

#include <systemd/sd-bus.h>

static sd_bus *bus;

/* Returns the result of a function of sd-bus. Exits if it is an error. */
static int checked(int result, const char *what)
{
    if (result < 0)
        fail("%s: %s", what, strerror(-result));
    return result;
}

static void connect_to(const char *address)
{
    checked(sd_bus_new(&bus), "there is no memory for a connection");
    checked(sd_bus_set_address(bus, address), "the address is malformed");
    checked(sd_bus_set_bus_client(bus, 1), "the connection cannot be prepared");
    checked(sd_bus_negotiate_fds(bus, 1), "the connection cannot be prepared");
    checked(sd_bus_start(bus), "there is no connection to the bus");
}

static int answer(sd_bus_message *message, void *unused, sd_bus_error *error)
{
    uint32_t number;
    const void *body;
    size_t size;
    int descriptor = -1;
    (void)unused, (void)error;
    checked(sd_bus_message_read(message, "u", &number), "a call cannot be read");
    checked(sd_bus_message_read_array(message, 'y', &body, &size), "a call cannot be read");
    /* The message owns the descriptor. */
    if (strcmp(sd_bus_message_get_member(message), "EchoFile") == 0)
        checked(sd_bus_message_read(message, "h", &descriptor), "a descriptor cannot be read");
    take_call(number, body, size, descriptor);
    return checked(sd_bus_reply_method_return(message, "u", number), "no reply can be sent");
}

static int take(sd_bus_message *message, void *unused, sd_bus_error *error)
{
    uint32_t number;
    (void)unused, (void)error;
    checked(sd_bus_message_read(message, "u", &number), "a signal cannot be read");
    strcmp(sd_bus_message_get_member(message), "Done") == 0 ? take_end(number)
                                                            : take_signal(number);
    return 0;
}

static void serve(void)
{
    static const sd_bus_vtable members[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Echo", "uay", "u", answer, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("EchoFile", "uayh", "u", answer, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
    };
    checked(sd_bus_add_object_vtable(bus, NULL, PATH, INTERFACE, members, NULL),
            "the object cannot be served");
    checked(sd_bus_match_signal(bus, NULL, NULL, PATH, INTERFACE, NULL, take, NULL),
            "the bus refuses the rule");
    checked(sd_bus_request_name(bus, NAME, 0), "the bus refuses the name");
    puts("ready");
    fflush(stdout);
    for (;;)
        if (checked(sd_bus_process(bus, NULL), "the connection ended") == 0)
            checked(sd_bus_wait(bus, UINT64_MAX), "the connection ended");
}

static void emit(const char *member, uint32_t number)
{
    checked(sd_bus_emit_signal(bus, PATH, INTERFACE, member, "u", number),
            "a signal cannot be sent");
}

static uint32_t call(const char *member, uint32_t number, const uint8_t *body, size_t size,
                     int descriptor)
{
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *message = NULL, *reply = NULL;
    uint32_t returned;
    checked(sd_bus_message_new_method_call(bus, &message, NAME, PATH, INTERFACE, member),
            "there is no memory for a call");
    checked(sd_bus_message_append(message, "u", number), "there is no memory for a call");
    checked(sd_bus_message_append_array(message, 'y', body, size), "there is no memory for a call");
    if (descriptor >= 0)
        checked(sd_bus_message_append(message, "h", descriptor), "a descriptor cannot be sent");
    int result = sd_bus_call(bus, message, 0, &error, &reply);
    if (result < 0)
        fail("the call failed: %s", error.message != NULL ? error.message : strerror(-result));
    checked(sd_bus_message_read(reply, "u", &returned), "the reply cannot be read");
    sd_bus_message_unref(message);
    sd_bus_message_unref(reply);
    return returned;
}

static void flush(void)
{
    checked(sd_bus_flush(bus), "the signals cannot be sent");
}
