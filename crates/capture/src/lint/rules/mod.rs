//! The rules, one file each, named by what they find.

mod prelude;

mod asking_each_object;
mod broad_match_rules;
mod broadcast_secrets;
mod broadcasts_to_one;
mod calls_from_signal_handlers;
mod calls_lost_to_leaving;
mod calls_without_interface;
mod completion_signals;
mod connection_churn;
mod credential_storms;
mod doubled_change_signals;
mod duplicate_match_rules;
mod error_storms;
mod failed_starts;
mod get_instead_of_get_all;
mod idle_match_rules;
mod incomplete_recording;
mod introspection_spam;
mod invalidate_then_get;
mod large_audiences;
mod large_messages;
mod late_names;
mod late_services;
mod leaked_match_rules;
mod managed_objects_again;
mod many_descriptors;
mod many_pending_calls;
mod misplaced_replies;
mod mutual_calls;
mod name_checks_before_calls;
mod objects_at_the_root;
mod polling;
mod probing;
mod queues_in_services;
mod reached_limits;
mod reading_back;
mod repeated_calls;
mod retrying_absent_names;
mod serial_calls;
mod shell_callers;
mod signal_floods;
mod signal_loops;
mod slow_methods;
mod split_changes;
mod starved_bus;
mod synchronous_stalls;
mod talking_to_the_bus;
mod timeouts;
mod unanswered_calls;
mod unchanged_properties;
mod unheard_signals;
mod unwanted_replies;
mod wasted_wake_ups;
mod watching_all_names;

use super::rule::Rule;

/// All rules, by their numbers. Numbers are not used again.
pub(super) const ALL: [Rule; 54] = [
    duplicate_match_rules::RULE,
    leaked_match_rules::RULE,
    broad_match_rules::RULE,
    watching_all_names::RULE,
    idle_match_rules::RULE,
    wasted_wake_ups::RULE,
    get_instead_of_get_all::RULE,
    asking_each_object::RULE,
    managed_objects_again::RULE,
    serial_calls::RULE,
    repeated_calls::RULE,
    polling::RULE,
    unanswered_calls::RULE,
    calls_lost_to_leaving::RULE,
    timeouts::RULE,
    error_storms::RULE,
    probing::RULE,
    retrying_absent_names::RULE,
    slow_methods::RULE,
    synchronous_stalls::RULE,
    mutual_calls::RULE,
    signal_floods::RULE,
    unchanged_properties::RULE,
    split_changes::RULE,
    invalidate_then_get::RULE,
    doubled_change_signals::RULE,
    signal_loops::RULE,
    unheard_signals::RULE,
    broadcasts_to_one::RULE,
    large_audiences::RULE,
    introspection_spam::RULE,
    name_checks_before_calls::RULE,
    talking_to_the_bus::RULE,
    large_messages::RULE,
    many_descriptors::RULE,
    connection_churn::RULE,
    shell_callers::RULE,
    late_services::RULE,
    late_names::RULE,
    queues_in_services::RULE,
    reached_limits::RULE,
    many_pending_calls::RULE,
    unwanted_replies::RULE,
    reading_back::RULE,
    completion_signals::RULE,
    calls_without_interface::RULE,
    objects_at_the_root::RULE,
    broadcast_secrets::RULE,
    misplaced_replies::RULE,
    incomplete_recording::RULE,
    starved_bus::RULE,
    calls_from_signal_handlers::RULE,
    credential_storms::RULE,
    failed_starts::RULE,
];
