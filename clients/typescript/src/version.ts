/** Version of this package, as package.json has it. A test compares them. */
export const VERSION = "1.0.0";
