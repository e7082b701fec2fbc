import type { Readable } from 'node:stream'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import type { Request } from 'express'
import { badInput, WebError } from '../../../web/kit.ts'
import { texts } from './texts.ts'

/**
 * Streams the only file of an uploaded form to `consume` and resolves to its result. Throws `WebError` (400), and the errors of
 * `consume`.
 */
export async function receiveUpload<T>(
  req: Request,
  consume: (file: AsyncIterable<Uint8Array>, name: string) => Promise<T>,
): Promise<T> {
  const form = createParser(req)
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  let part: Readable | undefined
  form.on('file', (_field: string, file: Readable, name: string | undefined) => {
    // A truncated part must fail, not end like a complete file.
    file.on('error', (error) => file.destroy(error))
    if (!name) return void file.resume()
    part = file
    consume(file, sanitizeName(name)).then(resolve, reject)
  })
  form.on('finish', () => part ?? reject(badInput('file', texts.rules.file)))
  form.on('error', () => reject(uploadAborted()))
  // The client disconnected: fail instead of waiting for the rest of the file.
  req.once('close', () => {
    if (req.complete) return
    part?.destroy(uploadAborted())
    form.destroy(uploadAborted())
  })
  req.pipe(form)
  return promise.catch((error: unknown) => {
    req.unpipe(form)
    // Drain the body so that the browser reads the response.
    req.resume()
    throw error
  })
}

const uploadAborted = () => new WebError(400, 'invalid_request', texts.errors.uploadInterrupted)

function createParser(req: Request): BusboyInstance {
  try {
    return new Busboy({
      headers: req.headers as BusboyHeaders,
      limits: { files: 1, fields: 10, parts: 12, fieldSize: 1000, headerPairs: 50 },
    })
  } catch {
    throw uploadAborted()
  }
}

/** The name of a file without control characters, truncated. Busboy has removed its directories. */
function sanitizeName(name: string): string {
  const clean = name
    .normalize('NFC')
    .replace(/\p{Cc}/gu, '')
    .trim()
  return clean.toWellFormed().slice(0, 150) || 'prices.csv'
}
