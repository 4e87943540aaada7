/** The connection of a merchant without methods, for applications that bundle only the paths that they use. */

import { Caller } from "./caller.js";
import type { KasuwaOptions } from "./options.js";

/** What the classes of the paths make calls with. */
export type Connection = Caller;

/**
 * Returns what the class of a path takes: `new DisburseMethods(connect(options))` has the methods of `shop.disburse`.
 * A bundler then leaves out all paths that are not named; the class Kasuwa has all of them. Throws a TypeError if an
 * option is wrong.
 */
export function connect(options: KasuwaOptions): Connection {
  return new Caller(options);
}
