/* Three connections, each in a thread, exchange random messages over the bus and over lanes. No
 * connection may receive a message before one that its sender knew of.
 *
 * Each message contains, for each pair of connections, how many messages the first has sent to the
 * second, as far as the sender knows. The recipient must have received all of those that are for
 * itself. The arguments are a seed, the number of steps, and whether a monitor comes and goes. */

#include <dbus/dbus.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "statistics.h"

#define COUNT 3
#define NAME "org.example.Causes"

static int steps;
static char names[COUNT][64];
static pthread_barrier_t barrier;
static atomic_int sent[COUNT][COUNT], silent;

struct program {
    int own;
    unsigned long long random;
    DBusConnection *connection;
    dbus_uint32_t known[COUNT * COUNT];
    dbus_uint32_t received[COUNT];
    /* Calls that wait for a reply. */
    int waiting;
};

static unsigned below(struct program *program, unsigned limit) {
    program->random ^= program->random << 13;
    program->random ^= program->random >> 7;
    program->random ^= program->random << 17;
    return program->random % limit;
}

static void receive(struct program *program, dbus_uint32_t from, const dbus_uint32_t *known) {
    for (dbus_uint32_t sender = 0; sender < COUNT; sender++) {
        dbus_uint32_t expected = known[sender * COUNT + program->own] - (sender == from);
        if (program->received[sender] < expected ||
            (sender == from && program->received[sender] != expected)) {
            printf("connection %d has a message of %u, which knew %u of %u, but has %u\n",
                   program->own, from, expected, sender, program->received[sender]);
            exit(1);
        }
    }
    program->received[from]++;
    for (int pair = 0; pair < COUNT * COUNT; pair++)
        if (program->known[pair] < known[pair])
            program->known[pair] = known[pair];
}

/* Handles the messages that were read. */
static void handle(struct program *program) {
    DBusMessage *message;
    while ((message = dbus_connection_pop_message(program->connection)) != NULL) {
        int type = dbus_message_get_type(message);
        if (type == DBUS_MESSAGE_TYPE_ERROR) {
            printf("error %s\n", dbus_message_get_error_name(message));
            exit(1);
        }
        if (type == DBUS_MESSAGE_TYPE_METHOD_RETURN)
            program->waiting--;
        const dbus_uint32_t *known;
        dbus_uint32_t from;
        int len;
        if (dbus_message_has_interface(message, NAME) &&
            dbus_message_get_args(message, NULL, DBUS_TYPE_UINT32, &from, DBUS_TYPE_ARRAY,
                                  DBUS_TYPE_UINT32, &known, &len, DBUS_TYPE_INVALID) &&
            (int)from != program->own)
            receive(program, from, known);
        if (type == DBUS_MESSAGE_TYPE_METHOD_CALL && !dbus_message_get_no_reply(message)) {
            DBusMessage *reply = dbus_message_new_method_return(message);
            dbus_connection_send(program->connection, reply, NULL);
            dbus_message_unref(reply);
        }
        dbus_message_unref(message);
    }
}

static void send_known(struct program *program, DBusMessage *message) {
    const dbus_uint32_t *known = program->known;
    dbus_uint32_t from = program->own;
    dbus_message_append_args(message, DBUS_TYPE_UINT32, &from, DBUS_TYPE_ARRAY, DBUS_TYPE_UINT32,
                             &known, COUNT * COUNT, DBUS_TYPE_INVALID);
    dbus_connection_send(program->connection, message, NULL);
    dbus_message_unref(message);
}

static void will_send(struct program *program, int to) {
    program->known[program->own * COUNT + to]++;
    sent[program->own][to]++;
}

static void step(struct program *program) {
    unsigned choice = below(program, 100);
    if (choice < 45) {
        dbus_connection_read_write(program->connection, below(program, 20) == 0);
        handle(program);
    } else if (choice < 47) {
        /* To all others. */
        for (int to = 0; to < COUNT; to++)
            if (to != program->own)
                will_send(program, to);
        send_known(program, dbus_message_new_signal("/", NAME, "Sent"));
    } else if (choice < 48) {
        /* Messages go to the bus until it has routed this one. */
        DBusMessage *call = dbus_message_new_method_call(
            "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId");
        dbus_connection_send(program->connection, call, NULL);
        dbus_message_unref(call);
        program->waiting++;
    } else {
        int to = (program->own + 1 + below(program, COUNT - 1)) % COUNT;
        will_send(program, to);
        DBusMessage *message;
        if (below(program, 3) == 0) {
            message = dbus_message_new_signal("/", NAME, "Sent");
            dbus_message_set_destination(message, names[to]);
        } else {
            message = dbus_message_new_method_call(names[to], "/", NAME, "Sent");
            if (below(program, 2) == 0)
                dbus_message_set_no_reply(message, TRUE);
            else
                program->waiting++;
        }
        send_known(program, message);
    }
}

static int is_complete(struct program *program) {
    for (int from = 0; from < COUNT; from++)
        if (program->received[from] != (dbus_uint32_t)sent[from][program->own])
            return 0;
    return program->waiting == 0;
}

static void *run(void *argument) {
    struct program *program = argument;
    program->connection = dbus_bus_get_private(DBUS_BUS_SESSION, NULL);
    dbus_connection_set_exit_on_disconnect(program->connection, FALSE);
    /* One connection often has too many messages to read more. */
    if (program->own == 1)
        dbus_connection_set_max_received_size(program->connection, 1000);
    strcpy(names[program->own], dbus_bus_get_unique_name(program->connection));
    dbus_bus_add_match(program->connection, "interface='" NAME "'", &(DBusError)DBUS_ERROR_INIT);
    pthread_barrier_wait(&barrier);
    for (int index = 0; index < steps; index++)
        step(program);
    silent++;
    for (time_t end = time(NULL) + 30; time(NULL) < end;) {
        dbus_connection_read_write(program->connection, 5);
        handle(program);
        if (silent >= COUNT && is_complete(program))
            break;
    }
    if (!is_complete(program)) {
        printf("connection %d has %u %u %u of %d %d %d messages, and lacks %d replies\n",
               program->own, program->received[0], program->received[1], program->received[2],
               sent[0][program->own], sent[1][program->own], sent[2][program->own],
               program->waiting);
        exit(1);
    }
    /* Others may still need replies. */
    silent++;
    while (silent < 2 * COUNT) {
        dbus_connection_read_write(program->connection, 5);
        handle(program);
    }
    if (program->own == 0)
        print_statistics(program->connection);
    pthread_barrier_wait(&barrier);
    dbus_connection_close(program->connection);
    dbus_connection_unref(program->connection);
    return NULL;
}

static void watch(void) {
    DBusConnection *monitor = dbus_bus_get_private(DBUS_BUS_SESSION, NULL);
    DBusMessage *message =
        dbus_message_new_method_call("org.freedesktop.DBus", "/org/freedesktop/DBus",
                                     "org.freedesktop.DBus.Monitoring", "BecomeMonitor");
    const char **rules = NULL;
    dbus_uint32_t flags = 0;
    dbus_message_append_args(message, DBUS_TYPE_ARRAY, DBUS_TYPE_STRING, &rules, 0,
                             DBUS_TYPE_UINT32, &flags, DBUS_TYPE_INVALID);
    dbus_connection_set_exit_on_disconnect(monitor, FALSE);
    dbus_message_unref(dbus_connection_send_with_reply_and_block(monitor, message, 10000, NULL));
    dbus_message_unref(message);
    usleep(2000);
    dbus_connection_close(monitor);
    dbus_connection_unref(monitor);
    usleep(10000);
}

int main(int argc, char **argv) {
    unsigned long long seed = strtoull(argv[1], NULL, 10);
    struct program programs[COUNT] = {0};
    pthread_t threads[COUNT];
    steps = atoi(argv[2]);
    pthread_barrier_init(&barrier, NULL, COUNT);
    dbus_threads_init_default();
    for (int own = 0; own < COUNT; own++) {
        programs[own].own = own;
        programs[own].random = (seed * (COUNT + 1) + own) | 1;
        pthread_create(&threads[own], NULL, run, &programs[own]);
    }
    while (atoi(argv[3]) && silent < COUNT)
        watch();
    for (int own = 0; own < COUNT; own++)
        pthread_join(threads[own], NULL);
    puts("done");
    return 0;
}
