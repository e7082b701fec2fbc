import { AppError } from '../../../connect/errors.ts'
import { texts } from './import-texts.ts'
import type { FileProblems } from './problems.ts'

type Code = keyof typeof texts.titles

/** A request about a file that can't be carried out, or the failure of an import. */
export class ImportError extends AppError {
  readonly code: Code
  readonly status: number
  readonly title: string
  /** The problems, if the file doesn't match the template. */
  readonly problems: FileProblems | undefined
  constructor(status: number, code: Code, message: string, problems?: FileProblems) {
    super(message, { details: { ...problems } })
    this.status = status
    this.code = code
    this.title = texts.titles[code]
    this.problems = problems
  }
}

/** 409: the state of the import, or another import, does not allow this. */
export const conflict = (message: string) => new ImportError(409, 'conflict', message)

/** 404: this connection has no file for the catalogue. */
export const importNotFound = () => new ImportError(404, 'not_found', texts.errors.notFound)

/** 502: the platform did not complete the import, or it is not clear whether it did. */
export const importFailed = (message: string) => new ImportError(502, 'import_failed', message)
