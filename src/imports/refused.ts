/** What an import cannot do, and why; the pages answer `status` and `code`. */
export class ImportRefused extends Error {
  readonly code: 'not_found' | 'too_large' | 'import_state' | 'invalid_input'
  readonly status: number
  constructor(status: number, code: ImportRefused['code'], message: string) {
    super(message)
    this.name = 'ImportRefused'
    this.status = status
    this.code = code
  }
}

export const noSuchImport = () =>
  new ImportRefused(404, 'not_found', 'There is no such import, or it has been discarded.')
