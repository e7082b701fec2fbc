import type { Readable } from 'node:stream'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import type { Request } from 'express'
import { badInput, WebError } from '../../web/errors.ts'
import { ImportError } from './errors.ts'

/** The one file of a form, or the body itself when it is a CSV. `take` reads it as a stream, to its end. */
export async function uploadOf<T>(
  req: Request,
  take: (file: AsyncIterable<Uint8Array>, name: string) => Promise<T>,
): Promise<T> {
  if (req.is('text/csv')) {
    const name = typeof req.query.name === 'string' ? req.query.name : 'prices.csv'
    return take(req.iterator({ destroyOnReturn: false }), cleaned(name)).catch((error: unknown) => {
      // What is left of the body is read and dropped, so that the client gets to read the answer.
      req.resume()
      throw req.destroyed && !req.complete ? brokenOff() : error
    })
  }
  if (!req.is('multipart/form-data')) {
    throw new ImportError(
      415,
      'unsupported_media_type',
      'Send the price file as a form with a file, or as text/csv.',
    )
  }
  return new Promise((resolve, reject) => {
    const form = formOf(req)
    let part: Readable | undefined
    let taken: Promise<T> | undefined
    const fail = (error: unknown) => {
      req.unpipe(form)
      // What is left of the body is read and dropped, so that the browser gets to read the answer.
      req.resume()
      reject(error)
    }
    form.on('file', (_field: string, file: Readable, name: string | undefined) => {
      // A part that is cut off must not look like a whole file to whoever reads it, now or later.
      file.on('error', (error) => file.destroy(error))
      if (!name) return void file.resume()
      part = file
      taken = take(file, cleaned(name))
      taken.catch(fail)
    })
    form.on('finish', () => {
      if (taken) taken.then(resolve, fail)
      else fail(badInput('file', 'choose a price file'))
    })
    form.on('error', () => fail(brokenOff()))
    // The user has left: whoever reads the file must not wait for the rest of it.
    req.once('close', () => {
      if (req.complete) return
      part?.destroy(brokenOff())
      form.destroy(brokenOff())
    })
    req.pipe(form)
  })
}

const brokenOff = () => new WebError(400, 'invalid_request', 'The upload was broken off, or is not a form.')

function formOf(req: Request): BusboyInstance {
  try {
    return new Busboy({
      headers: req.headers as BusboyHeaders,
      limits: { files: 1, fields: 10, parts: 12, fieldSize: 1000, headerPairs: 50 },
    })
  } catch {
    throw brokenOff()
  }
}

/** Strips folders and control characters from a file name. */
function cleaned(name: string): string {
  const base = name
    .normalize('NFC')
    .replace(/^.*[/\\]/, '')
    .replace(/\p{Cc}/gu, '')
    .trim()
  return base.toWellFormed().slice(0, 150) || 'prices.csv'
}
