import { AppError, type AppErrorOptions } from '../../../connect/errors.ts'
import { texts } from './texts.ts'

type Code = keyof typeof texts.titles

/** An import request that cannot be carried out. */
export class ImportError extends AppError {
  readonly code: Code
  readonly status: number
  readonly title: string
  constructor(status: number, code: Code, message: string, options?: AppErrorOptions) {
    super(message, options)
    this.status = status
    this.code = code
    this.title = texts.titles[code]
  }
}

/** The platform did not complete the import, or did not accept every item. */
export class ImportFailedError extends ImportError {
  constructor(message: string, options?: AppErrorOptions) {
    super(502, 'import_failed', message, options)
  }
}

/** 404: no import with this id. */
export const importNotFound = () => new ImportError(404, 'not_found', texts.errors.notFound)

/** 409: the file, its items or what was found in it are gone. */
export const fileGone = () => new ImportError(409, 'conflict', texts.failures.fileGone)
