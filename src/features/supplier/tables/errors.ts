import { AppError } from '../../../connect/errors.ts'
import { texts } from './texts.ts'

/** A file that cannot be read from some line on. The message says why and what to do. */
export class UnreadableFileError extends AppError {
  readonly code = 'file_unreadable'
  readonly status = 400
  readonly title = texts.unreadableFile
  /** Line or spreadsheet row, starting at 1; 0 if the problem is about the whole file. */
  readonly line: number
  /** The message without the line number. */
  readonly problem: string
  constructor(line: number, problem: string) {
    super(line === 0 ? problem.charAt(0).toUpperCase() + problem.slice(1) : texts.line(line, problem))
    this.line = line
    this.problem = problem
  }
}
