import { AppError } from '../../connect/app-error.ts'

/** What an import cannot do, and why; the pages answer `status` and `code`. */
export class ImportError extends AppError {
  readonly code:
    | 'not_found'
    | 'too_large'
    | 'upload_quota_exceeded'
    | 'import_state'
    | 'invalid_input'
    | 'record_unreadable'
  readonly status: number
  constructor(status: number, code: ImportError['code'], message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export const noSuchImport = () =>
  new ImportError(404, 'not_found', 'There is no such import, or it has been discarded.')

/** A stored job that this version of the app cannot read: never its user's fault. */
export const unreadableImport = () =>
  new ImportError(
    500,
    'record_unreadable',
    'The record of this import cannot be read. Upload the file again.',
  )
