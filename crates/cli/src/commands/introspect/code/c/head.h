 *
 * Functions return a negative error number if something went wrong. Texts, arrays of numbers and
 * descriptors that came with an answer belong to it: it is put into *ret_reply, to be given to
 * sd_bus_message_unref() when they are not needed any more. A list of texts is the caller's, as is each
 * of its texts. What C has no type for is appended and read by a function of yours, which has to do so
 * with the whole value and returns a negative number if it cannot; with NULL it is passed over in reading.
 */

#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
