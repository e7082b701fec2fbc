/** A heading in lower case, its words separated by single spaces: `Unit Price (ex-GST)` is `unit price ex gst`. */
export const wordsOf = (heading: string) =>
  heading
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}+]+/gu, ' ')
    .replace(/\br r p\b/, 'rrp')
    .trim()
