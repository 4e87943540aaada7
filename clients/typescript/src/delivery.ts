/** What the headers of a webhook delivery say about it. */

export interface DeliveryFacts {
  /** `webhook-id`: the same for every delivery of an event. Undefined if the delivery has none. */
  readonly eventId: string | undefined;
  /** The time of this delivery. Undefined if it has none. */
  readonly sentAt: Date | undefined;
}
