/** The problems in a file: the first problems of each kind, and their number. */
import { INVISIBLE } from './cells.ts'
import { type Expectation, texts } from './texts.ts'

/** A place in a file that doesn't match the template. */
export interface Problem {
  /** The line of the file, from 1; null if the whole file is refused. */
  line: number | null
  /** The column's name, or "column 7" if it has no name; empty if the problem is about the line or the file. */
  column: string
  /** The cell, shortened, with invisible characters shown by their numbers; empty if the cell is. */
  found: string
  /** The expected content. If the whole file is refused, a sentence with the reason. */
  expected: string
}

/** Problems with the same column and expectation. */
export interface ProblemKind {
  column: string
  expected: string
  /** How to correct the problem in the programs that make such files; may be empty. */
  cure: string
  count: number
}

/** `listed`: in the order of the file, at most 10 of each kind and 100 in all. */
export interface FileProblems {
  listed: Problem[]
  kinds: ProblemKind[]
}

const MAX_OF_A_KIND = 10
const MAX_LISTED = 100
const MAX_FOUND = 40

/** Collects the problems of a file. */
export class Problems {
  readonly #listed: Problem[] = []
  readonly #kinds = new Map<string, ProblemKind>()

  get isEmpty(): boolean {
    return this.#kinds.size === 0
  }

  get all(): FileProblems {
    return { listed: this.#listed.slice(0, MAX_LISTED), kinds: [...this.#kinds.values()] }
  }

  /** `also`: describes the place of a duplicate. */
  add(line: number, column: string, { expected, cure }: Expectation, found: string, also = ''): void {
    if (!this.#isListed({ column, expected, cure })) return
    const cell = shown(found)
    this.#listed.push({ line, column, found: also ? texts.also(cell, also) : cell, expected })
  }

  /** Adds the reason why the whole file is refused, before all other problems. */
  refuse(expected: string): void {
    this.#isListed({ column: '', expected, cure: '' })
    this.#listed.unshift({ line: null, column: '', found: '', expected })
  }

  /** Counts a problem. Returns whether it is among the first problems of its kind. */
  #isListed(kind: Omit<ProblemKind, 'count'>): boolean {
    const key = `${kind.column}\n${kind.expected}`
    const counted = this.#kinds.get(key) ?? { ...kind, count: 0 }
    this.#kinds.set(key, counted)
    counted.count++
    return counted.count <= MAX_OF_A_KIND && this.#listed.length < MAX_LISTED
  }
}

const EACH_INVISIBLE = new RegExp(INVISIBLE, 'gu')

/** Formats a cell for display: its beginning, with invisible characters as code numbers. */
export function shown(cell: string): string {
  const characters = [...cell.slice(0, 2 * MAX_FOUND + 1)]
  const start = characters.length > MAX_FOUND ? `${characters.slice(0, MAX_FOUND - 1).join('')}…` : cell
  return start.replace(EACH_INVISIBLE, (character) =>
    texts.invisible((character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')),
  )
}
