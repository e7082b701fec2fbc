/** Characters that turn the direction of the text after them. Names may have them, since other people have typed the names. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g

/** A text without the characters that change the direction of the text behind it (UAX #9). */
export const undirected = (text: string): string => text.replace(DIRECTION, '')

/** A name inside a sentence, apart from the text around it. `format.sentence` shows it as `<bdi>`. */
export const isolated = (name: string): string => `\u2068${undirected(name)}\u2069`
