/** Characters that change the direction of the text after them. Names may contain them, because people type the names. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g

/** Removes the characters that change the direction of the text after them (UAX #9). */
export const undirected = (text: string): string => text.replace(DIRECTION, '')

/** Marks a name inside a sentence, so that it doesn't affect the text around it. `format.sentence` shows it as `<bdi>`. */
export const isolated = (name: string): string => `\u2068${undirected(name)}\u2069`
