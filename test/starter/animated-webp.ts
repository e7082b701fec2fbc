/** Makes an animated WebP of still ones, which Chromium writes: RFC 9649, sections 2.3 to 2.7. */

export interface Frame {
  /** A WebP file of the size of all others. */
  image: Buffer
  /** How long it stays, in ms. */
  ms: number
}

/** Repeated for ever. */
export function animatedWebp(
  frames: readonly Frame[],
  { width, height }: { width: number; height: number },
): Buffer {
  const HAS_ANIMATION = 0x02
  const header = chunk(
    'VP8X',
    Buffer.concat([uint(HAS_ANIMATION, 4), uint(width - 1, 3), uint(height - 1, 3)]),
  )
  // The colour of the background, and how often it plays: 0 is for ever.
  const animation = chunk('ANIM', Buffer.concat([uint(0xffffffff, 4), uint(0, 2)]))
  const animated = frames.map(({ image, ms }) => {
    const place = [uint(0, 3), uint(0, 3), uint(width - 1, 3), uint(height - 1, 3), uint(ms, 3)]
    const REPLACES_THE_LAST = 0x02
    return chunk('ANMF', Buffer.concat([...place, uint(REPLACES_THE_LAST, 1), pixelsOf(image)]))
  })
  return chunk('RIFF', Buffer.concat([Buffer.from('WEBP'), header, animation, ...animated]))
}

/** The chunks of a still image that have its pixels: not its header. */
function pixelsOf(image: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = 12; at < image.length; ) {
    const name = image.toString('latin1', at, at + 4)
    const end = at + 8 + Math.ceil(image.readUInt32LE(at + 4) / 2) * 2
    if (['VP8 ', 'VP8L', 'ALPH'].includes(name)) chunks.push(image.subarray(at, end))
    at = end
  }
  return Buffer.concat(chunks)
}

/** Its size is even. */
function chunk(name: string, data: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(name, 'latin1'),
    uint(data.length, 4),
    data,
    Buffer.alloc(data.length % 2),
  ])
}

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUIntLE(value, 0, bytes)
  return buffer
}
