/** Prints the output of all commands. Names and messages of the platform must not control the terminal. */

/** Control characters except the tab, and characters that end a line or change the direction of text. */
const CONTROL = /(?!\t)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** The marks around the names in our sentences. */
const ISOLATES = /[\u2068\u2069]/g

/** A line that is safe to print: each character that controls a terminal, including line breaks, becomes a space. */
const printable = (line: string): string => line.replace(ISOLATES, '').replace(CONTROL, ' ')

const linesOf = (lines: readonly string[]) => lines.map((line) => `${printable(line)}\n`).join('')

/** Prints lines to standard output. */
export const print = (...lines: string[]): void => write(process.stdout, lines)

/** Prints lines to standard error. */
export const printError = (...lines: string[]): void => write(process.stderr, lines)

function write(stream: NodeJS.WriteStream, lines: readonly string[]): void {
  if (!stream.listeners('error').includes(onError)) stream.on('error', onError)
  stream.write(linesOf(lines))
}

/** If the reader, such as `head`, ends first, the remaining lines are lost, but the command finishes its work. */
function onError(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

/** Prints indented JSON, or a single line if `compact`. */
export const printJson = (value: unknown, { compact = false } = {}): void =>
  print(...toJson(value, compact ? 0 : 2).split('\n'))

/** JSON with all characters escaped that control a terminal, except the line breaks of `indent`. */
export const toJson = (value: unknown, indent: number): string =>
  JSON.stringify(value, null, indent).replace(CONTROL, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
