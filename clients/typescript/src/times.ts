/** Texts that are times and dates. */

/** A time in ISO 8601, in UTC in replies: `2026-01-05T09:30:00.000Z`. `new Date(text)` reads it. */
export type Time = string;

/** A date of the business calendar (Africa/Lagos): `2026-01-05`. */
export type CalendarDate = string;
