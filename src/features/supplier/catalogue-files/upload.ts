import { finished, type Readable } from 'node:stream'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import type { Request } from 'express'
import { badInput, WebError } from '../../../web/feature-api.ts'
import { texts } from './import-texts.ts'

const LIMITS = { files: 1, fields: 10, parts: 12, fieldSize: 1000, headerPairs: 50 }

/** Streams the only file of an uploaded form to `consume`. Throws `WebError` (400), and the errors of `consume`. */
export async function receiveUpload<T>(
  req: Request,
  consume: (fileName: string, chunks: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const interrupted = new WebError(400, 'invalid_request', texts.errors.interrupted)
  let part: Readable | undefined
  let form: BusboyInstance
  try {
    form = new Busboy({ headers: req.headers as BusboyHeaders, limits: LIMITS })
  } catch {
    throw interrupted
  }
  form.on('file', (_field: string, file: Readable, name: string | undefined) => {
    // A truncated part must fail, not end like a complete file.
    file.on('error', (error) => file.destroy(error))
    if (!name) return void file.resume()
    part = file
    consume(nameOf(name), file).then(resolve, reject)
  })
  form.on('finish', () => part ?? reject(badInput('file', texts.rules.file)))
  form.on('error', () => reject(interrupted))
  finished(req, { writable: false }, (error) => {
    if (!error) return
    // The client disconnected: fail instead of waiting for the rest of the file.
    part?.destroy(interrupted)
    form.destroy(interrupted)
  })
  req.pipe(form)
  return promise.finally(() => {
    req.unpipe(form)
    // Drain the body so that the browser reads the response.
    req.resume()
  })
}

/** Shortens a file name, and removes its control characters. Busboy has already removed the directories. */
const nameOf = (name: string): string =>
  name
    .replace(/\p{Cc}/gu, '')
    .trim()
    .toWellFormed()
    .slice(0, 150) || 'catalogue.csv'
