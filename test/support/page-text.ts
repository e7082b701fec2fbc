/** The most lines of a page that a failure shows. */
const SHOWN = 30

const isPage = (value: unknown) => typeof value === 'string' && /^\s*<!doctype html>/i.test(value)

/** The visible text of a page without its header. Returns any other text unchanged. */
export function textOfPage(html: string): string {
  if (!isPage(html)) return html
  const [title = ''] = /(?<=<title>)[^<]*/.exec(html) ?? []
  const [main] = /<main[\s\S]*/.exec(html) ?? [html]
  const lines = main
    .replaceAll(/<(script|style)\b[\s\S]*?<\/\1>|<[^>]*>/g, ' ')
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/\s*\n\s*/g, '\n')
    .trim()
    .split('\n')
  const shown = lines.length > SHOWN ? [...lines.slice(0, SHOWN), '…'] : lines
  return [`The text of the page "${title}":`, ...shown].join('\n')
}

/** A Chai plugin. A failing assertion shows the text of a page, or of a page in a list, instead of its HTML. */
export const pagesAsText: Chai.ChaiPlugin = ({ Assertion }, { getActual, overwriteMethod, test }) =>
  overwriteMethod(
    Assertion.prototype,
    'assert',
    (assert: (...args: Chai.AssertionArgs) => void) =>
      function (this: Chai.AssertionStatic, ...args: Chai.AssertionArgs) {
        const actual: unknown = getActual(this, args)
        if (test(this, args) || ![actual].flat().some(isPage)) return assert.apply(this, args)
        const [expression, message, negated, expected, , showDiff] = args
        const shown = Array.isArray(actual)
          ? actual.map((one) => (isPage(one) ? textOfPage(one) : one))
          : textOfPage(`${actual}`)
        assert.call(this, expression, message, negated, expected, shown, showDiff)
      },
  )
