import { AppError } from '../../connect/app-error.ts'
import { PlatformError } from '../../connect/platform/errors.ts'

const TITLES = {
  not_found: 'Not found',
  payload_too_large: 'Too large',
  unsupported_media_type: 'Unsupported media type',
  upload_quota_exceeded: 'No room for this file',
  conflict: 'Conflict',
  invalid_input: 'Please check your input',
  import_unreadable: 'This import cannot be read',
} as const

/** An import that is not possible; pages answer with `status` and `code`. */
export class ImportError extends AppError {
  readonly code: keyof typeof TITLES
  readonly status: number
  constructor(status: number, code: keyof typeof TITLES, message: string) {
    super(message, { title: TITLES[code] })
    this.status = status
    this.code = code
  }
}

/** The platform did not complete the import, or not with all items. */
export class ImportFailedError extends PlatformError {
  readonly code = 'import_failed'
  readonly status = 502
}

export const noSuchImport = () =>
  new ImportError(404, 'not_found', 'There is no such import, or it has been discarded.')

/** The stored job is of a format that this version of the app does not know. */
export const unreadableImport = () =>
  new ImportError(
    500,
    'import_unreadable',
    'The record of this import cannot be read. Upload the file again.',
  )
