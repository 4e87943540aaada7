/** Version of this package, as package.json has it. A test compares them. */
export const VERSION = "0.1.0";
