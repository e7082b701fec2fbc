import { DAYS, type OpeningHours, openingHoursSchema } from '../contract.ts'

/** A day of the week by its name, or the first three letters of it. */
export function dayOf(text: string): (typeof DAYS)[number] | undefined {
  const wanted = text.toLowerCase()
  return DAYS.find((day) => [day.toLowerCase(), day.slice(0, 3).toLowerCase()].includes(wanted))
}

/** One opening; in words what is wrong with it. `7:00` is taken for `07:00`. */
export function openingOf(opens: string, closes: string): OpeningHours | string {
  const two = (hour: string) => (/^\d:\d\d$/.test(hour) ? `0${hour}` : hour)
  const opening = openingHoursSchema.safeParse({ opens: two(opens), closes: two(closes) })
  if (!opening.success) return 'opens and closes must be hours such as 07:00 and 17:30'
  if (opening.data.closes <= opening.data.opens)
    return 'closes must be later than opens; an opening beyond midnight is two, up to 24:00 and from 00:00'
  return opening.data
}

/** Adds an opening to those of a day, in the order of time. False when it overlaps with one of them. */
export function addOpening(openings: OpeningHours[], opening: OpeningHours): boolean {
  if (openings.some(({ opens, closes }) => opening.opens < closes && opens < opening.closes)) return false
  openings.push(opening)
  openings.sort((a, b) => (a.opens < b.opens ? -1 : 1))
  return true
}
