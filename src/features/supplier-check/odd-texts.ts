/** Texts that an implementation could take for an id or code that exists, or that could break it. */

/** Wildcards, quotes, and the names of members that every object has in some languages. */
export function oddTexts(id: string): string[] {
  const shapes = [`${id}%`, '%', '*', `${id.slice(0, -1)}_`, `${id}'`, `${id}\\`]
  return [...shapes, 'constructor', 'toString', '__proto__'].filter((shape) => shape !== id)
}

/** Other ways to write a number: none is the same text. Empty if the id is none. */
export function otherNumbers(id: string): string[] {
  const number = /^\d+$/.test(id) ? Number(id) : Number.NaN
  if (!Number.isSafeInteger(number)) return []
  return [
    `0${id}`,
    String(number),
    number.toExponential(),
    `0x${number.toString(16)}`,
    `${id}.0`,
    `${id}99999999999`,
  ].filter((form) => form !== id)
}

/** Longer than a column of a database usually is. */
export const longText = (id: string) => `${id}-${'x'.repeat(300)}`

/** Of several ids, one of each shape: of digits only, with zeros in front, with letters. */
export function oneOfEachShape<T>(ids: readonly T[]): T[] {
  const shapeOf = (id: T) =>
    /^0\d*$/.test(String(id)) ? 'zeros' : /^\d+$/.test(String(id)) ? 'digits' : 'letters'
  return ids.filter((id, index) => ids.findIndex((other) => shapeOf(other) === shapeOf(id)) === index)
}
