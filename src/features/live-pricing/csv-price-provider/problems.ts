/** A problem with a row of a file; line 0: with the file as a whole. */
export interface Problem {
  file: string
  line: number
  reason: string
}

const MAX_LISTED = 20
const MAX_PROBLEMS = 10_000

/** Such as `items.csv, line 3: the price is negative.` */
export const describeProblem = ({ file, line, reason }: Problem) =>
  `${file}${line === 0 ? '' : `, line ${line}`}: ${reason}`

/** A price list that cannot be loaded. The message lists the first problems, each with its file and line. */
class PriceListError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly Problem[], hint?: string) {
    const described = problems.map(describeProblem)
    const omitted = described.length - MAX_LISTED
    super(
      [
        `The price list has ${described.length} ${described.length === 1 ? 'problem' : 'problems'}; nothing was loaded.`,
        ...described.slice(0, MAX_LISTED),
        ...(omitted > 0 ? [`... and ${omitted} more.`] : []),
        ...(hint === undefined ? [] : [hint]),
      ].join('\n'),
    )
    this.name = 'PriceListError'
    this.problems = described
  }
}

/** Collects problems. `skipRows`: rows with a problem are left out; otherwise they prevent the load. */
export function createProblems(skipRows: boolean) {
  const preventing: Problem[] = []
  const leftOut: Problem[] = []
  function add(list: Problem[], problem: Problem): void {
    list.push(problem)
    if (list.length >= MAX_PROBLEMS) throw new PriceListError(list)
  }
  return {
    /** The rows that are left out. */
    leftOut,
    addRow: (problem: Problem) => add(skipRows ? leftOut : preventing, problem),
    addFile: (problem: Problem) => add(preventing, problem),
    /** Throws `PriceListError` if there are problems that prevent the load. `hint` is appended to the message. */
    check(hint?: string): void {
      if (preventing.length > 0) throw new PriceListError(preventing, hint)
    },
  }
}
export type Problems = ReturnType<typeof createProblems>
