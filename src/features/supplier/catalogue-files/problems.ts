/** What is wrong in a file: the first problems of each kind, and how many there are. */

/** A place in a file that isn't as the template requires. */
export interface Problem {
  /** The line of the file, from 1; null if the whole file is refused. */
  line: number | null
  /** The column's name, or "column 7" if it has no name; empty if the problem is about the line or the file. */
  column: string
  /** The cell, shortened, with invisible characters shown by their numbers; empty if nothing was found. */
  found: string
  /** The expected content. If the whole file is refused, a sentence that says why. */
  expected: string
}

/** Problems with the same column and expectation. */
export interface ProblemKind {
  column: string
  expected: string
  /** How to set it right, in the programs that make such files; may be empty. */
  cure: string
  count: number
}

/** `listed`: in the order of the file, at most 10 of each kind and 100 in all. */
export interface FileProblems {
  listed: Problem[]
  kinds: ProblemKind[]
}
