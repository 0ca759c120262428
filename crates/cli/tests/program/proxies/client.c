/* Calls a service through generated proxies: client ADDRESS */

#include "proxies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MUST(done)                                                                     \
    do {                                                                               \
        int _r = (done);                                                               \
        if (_r < 0) {                                                                  \
            fprintf(stderr, "%s: %s (%s)\n", #done, strerror(-_r), error.message);     \
            return 1;                                                                  \
        }                                                                              \
    } while (0)

static int append_variant(sd_bus_message *m, void *text) {
    return sd_bus_message_append(m, "v", "s", text);
}

static int print_variant(sd_bus_message *m, void *data) {
    const char *text;
    int r = sd_bus_message_read(m, "v", "s", &text);
    if (r >= 0)
        printf("%s %s\n", (const char *) data, text);
    return r;
}

static int append_truths(sd_bus_message *m, void *data) {
    (void) data;
    return sd_bus_message_append(m, "ab", 2, 1, 0);
}

static int append_lists(sd_bus_message *m, void *data) {
    (void) data;
    return sd_bus_message_append(m, "aai", 2, 0, 1, 3);
}

static int append_paths(sd_bus_message *m, void *data) {
    (void) data;
    return sd_bus_message_append(m, "ao", 2, "/", "/a");
}

static int append_pair(sd_bus_message *m, void *number) {
    return sd_bus_message_append(m, "(si)", *(int *) number > 4 ? "right" : "left", *(int *) number);
}

static int print_pair(sd_bus_message *m, void *data) {
    const char *text;
    int32_t number;
    int r = sd_bus_message_read(m, "(si)", &text, &number);
    if (r >= 0)
        printf("%s %s %d\n", (const char *) data, text, number);
    return r;
}

static int append_dict(sd_bus_message *m, void *data) {
    (void) data;
    return sd_bus_message_append(m, "a{sv}", 1, "a", "i", 1);
}

static int read_dict(sd_bus_message *m, void *number) {
    const char *key;
    return sd_bus_message_read(m, "a{sv}", 1, &key, "i", number);
}

static int append_tree(sd_bus_message *m, void *data) {
    (void) data;
    return sd_bus_message_append(m, "a{oa{sa{sv}}}", 1, "/a", 1, "b", 1, "c", "y", 2);
}

static int read_tree(sd_bus_message *m, void *number) {
    const char *path, *outer, *inner;
    return sd_bus_message_read(
            m, "a{oa{sa{sv}}}", 1, &path, 1, &outer, 1, &inner, "y", number);
}

static int append_structs(sd_bus_message *m, void *data) {
    (void) data;
    return sd_bus_message_append(m, "a(s(bv)ay)", 1, "x", 1, "s", "y", 1, 'z');
}

static int append_descriptors(sd_bus_message *m, void *fd) {
    return sd_bus_message_append(m, "a(sh)", 1, "read", *(int *) fd);
}

static int print_descriptors(sd_bus_message *m, void *data) {
    char text[100];
    const char *name;
    int fd, r = sd_bus_message_read(m, "a(sh)", 1, &name, &fd);
    (void) data;
    if (r >= 0) {
        ssize_t length = read(fd, text, sizeof(text));
        printf("descriptors %.*s\n", (int) length, text);
    }
    return r;
}

static int append_options(sd_bus_message *m, void *data) {
    (void) data;
    return sd_bus_message_append(m, "a{sv}", 1, "loud", "b", 1);
}

static int received = 0;

static int level_changed(sd_bus_message *m, void *level, sd_bus_error *error) {
    const char *interface, *name;
    (void) error;
    received++;
    return sd_bus_message_read(m, "sa{sv}", &interface, 1, &name, "u", level);
}

static int read_why(sd_bus_message *m, void *why) {
    const char *key;
    return sd_bus_message_read(m, "a{sv}", 1, &key, "s", why);
}

static int changed(sd_bus_message *m, void *data, sd_bus_error *error) {
    const char *text, *why;
    const uint8_t *bytes;
    size_t count;
    int r = example_types1_read_changed(m, &text, &bytes, &count, read_why, &why);
    (void) data, (void) error;
    if (r >= 0)
        printf("changed %s %zu %s\n", text, count, why);
    received++;
    return r;
}

static int struct_changed(sd_bus_message *m, void *data, sd_bus_error *error) {
    (void) data, (void) error;
    received++;
    return example_types1_read_struct_changed(m, print_pair, "struct changed");
}

static int bare(sd_bus_message *m, void *data, sd_bus_error *error) {
    (void) m, (void) data, (void) error;
    printf("bare\n");
    received++;
    return 0;
}

/* Waits until this many signals have arrived. */
static int wait_for(sd_bus *bus, int signals) {
    while (received < signals) {
        int r = sd_bus_process(bus, NULL);
        if (r == 0)
            r = sd_bus_wait(bus, 10 * 1000000);
        if (r < 0)
            return r;
    }
    return 0;
}

int main(int argc, char **argv) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus *bus;
    sd_bus_message *reply;

    if (argc < 2)
        return 2;
    MUST(sd_bus_new(&bus));
    MUST(sd_bus_set_address(bus, argv[1]));
    MUST(sd_bus_set_bus_client(bus, 1));
    MUST(sd_bus_start(bus));
    struct example_types1_proxy types = example_types1_proxy_on(bus);

    uint8_t byte;
    int truth;
    int16_t small;
    uint16_t usmall;
    int32_t number;
    uint32_t unumber;
    int64_t large;
    uint64_t ularge;
    double real;
    MUST(example_types1_echo_numbers(&types, 7, 1, -2, 3, -70000, 70000, -5, 5, 1.5, &byte, &truth,
            &small, &usmall, &number, &unumber, &large, &ularge, &real, &error));
    printf("numbers %d %s %d %d %d %u %lld %llu %g\n", byte, truth ? "True" : "False", small, usmall,
            number, unumber, (long long) large, (unsigned long long) ularge, real);

    const char *text, *path, *signature;
    MUST(example_types1_echo_texts(
            &types, "one", "/a/b", "a{sv}", &text, &path, &signature, &reply, &error));
    printf("texts %s %s %s\n", text, path, signature);
    sd_bus_message_unref(reply);
    MUST(example_types1_echo_variant(
            &types, append_variant, "inside", print_variant, "variant", &error));

    const uint8_t data[] = { 0, 255 }, *bytes;
    const int32_t numbers[] = { 1, -2 }, *echoed;
    char *texts[] = { "a", "b", NULL }, **strings = NULL;
    size_t bytes_count, echoed_count;
    MUST(example_types1_echo_lists(&types, data, 2, texts, numbers, 2, append_truths, NULL,
            append_lists, NULL, append_paths, NULL, &bytes, &bytes_count, &strings, &echoed,
            &echoed_count, NULL, NULL, NULL, NULL, NULL, NULL, &reply, &error));
    if (echoed_count != 2 || bytes[1] != 255)
        return 1;
    printf("lists %zu %s %s %d %d\n", bytes_count, strings[0], strings[1], echoed[0], echoed[1]);
    sd_bus_message_unref(reply);
    free(strings[0]), free(strings[1]), free(strings);

    int four = 4, five = 5;
    MUST(example_types1_echo_struct(&types, append_pair, &four, print_pair, "struct", &error));
    uint8_t deep;
    MUST(example_types1_echo_nested(&types, append_dict, NULL, append_tree, NULL, append_structs,
            NULL, read_dict, &number, read_tree, &deep, NULL, NULL, &error));
    printf("nested %d %d x\n", number, deep);

    int ends[2], end;
    if (pipe(ends) < 0)
        return 1;
    fflush(stdout);
    if (write(ends[1], "through", 7) != 7)
        return 1;
    MUST(example_types1_echo_descriptors(&types, ends[1], append_descriptors, &ends[0], &end,
            print_descriptors, NULL, &reply, &error));
    sd_bus_message_unref(reply);

    MUST(example_types1_nothing(&types, &error));
    if (example_types1_refuse(&types, &error) >= 0)
        return 1;
    printf("refused %s\n", error.name);
    sd_bus_error_free(&error);

    /* The compiler must warn of deprecated functions. This calls them nevertheless. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    MUST(example_types1_get_all_xyz(&types, "a", "b", "c", "d", &error));
    MUST(example_types1_get_version(&types, &text, &reply, &error));
    printf("version %s\n", text);
    sd_bus_message_unref(reply);
    MUST(example_types1_forget(&types, "forgotten"));
    MUST(example_types1_get_version(&types, &text, &reply, &error));
    printf("version %s\n", text);
    sd_bus_message_unref(reply);
    MUST(example_types1_set_secret(&types, "secret", &error));
    MUST(example_types1_get_version(&types, &text, &reply, &error));
    printf("version %s\n", text);
    sd_bus_message_unref(reply);

    uint32_t level, signaled = 0;
    sd_bus_slot *slot = NULL;
    MUST(example_types1_get_level(&types, &level, &error));
    printf("level %u\n", level);
    MUST(example_types1_match_properties_changed(&types, &slot, level_changed, &signaled));
    /* The setter of the property; a method has almost the same name. */
    MUST(example_types1_set_level_2(&types, 8, &error));
    MUST(wait_for(bus, 1));
    sd_bus_slot_unref(slot);
    MUST(example_types1_get_level(&types, &level, &error));
    printf("level %u signaled %u\n", level, signaled);
    MUST(example_types1_set_level(&types, 9, &error));
    MUST(example_types1_get_level(&types, &level, &error));
    printf("level %u\n", level);

    char *three[] = { "three", NULL };
    MUST(example_types1_set_names(&types, three, &error));
    MUST(example_types1_get_names(&types, &strings, &error));
    printf("names %s\n", strings[0]);
    free(strings[0]), free(strings);
    MUST(example_types1_set_options(&types, append_options, NULL, &error));
    MUST(example_types1_get_options(&types, NULL, NULL, &error));
    MUST(example_types1_set_pair(&types, append_pair, &five, &error));
    MUST(example_types1_get_pair(&types, print_pair, "pair", &error));

    MUST(example_types1_match_changed(&types, NULL, changed, NULL));
    MUST(example_types1_match_struct_changed(&types, NULL, struct_changed, NULL));
    MUST(example_types1_match_bare(&types, NULL, bare, NULL));
    MUST(example_types1_emit_changed(&types, &error));
    MUST(wait_for(bus, 4));

    struct other_types1_proxy other = other_types1_proxy_on(bus);
    MUST(other_types1_nothing(&other, &error));
    sd_bus_flush_close_unref(bus);
    return 0;
}
