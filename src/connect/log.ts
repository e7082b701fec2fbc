/** The core's logger: pino, or any logger whose methods take the fields before the message. Fields never contain a secret. */
export interface Log {
  info: LogMethod
  warn: LogMethod
  error: LogMethod
}

interface LogMethod {
  (fields: object, message: string): void
  (message: string): void
}

export const SILENT: Log = { info: () => {}, warn: () => {}, error: () => {} }
