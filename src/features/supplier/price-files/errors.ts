import { AppError } from '../../../connect/errors.ts'
import { texts } from './texts.ts'

type Code = keyof typeof texts.titles

/** A request about an import that cannot be carried out, or why an import has failed. */
export class ImportError extends AppError {
  readonly code: Code
  readonly status: number
  readonly title: string
  constructor(status: number, code: Code, message: string) {
    super(message)
    this.status = status
    this.code = code
    this.title = texts.titles[code]
  }
}

/** 502: the platform did not complete the import, or did not accept every item. */
export const importFailed = (message: string) => new ImportError(502, 'import_failed', message)

/** 404: no import with this id. */
export const importNotFound = () => new ImportError(404, 'not_found', texts.errors.notFound)

/** 409: the file, its items or what was found in it are gone. */
export const fileGone = () => new ImportError(409, 'conflict', texts.failures.fileGone)
