import { Router } from 'express'
import * as z from 'zod'
import { describeRoute } from '../connect/express.ts'
import { signInFailed } from './errors.ts'
import { localPath } from './return-to.ts'
import { texts } from './texts.ts'
import { currentUser } from './user.ts'

const PATH = '/signed-in'

/** Where a form that has signed a user in leads: by `signedInRoute` to `returnTo`, if that is a path of this app, or the start page. */
export const signedInPath = (returnTo: unknown): string =>
  `${PATH}?${new URLSearchParams({ returnTo: localPath(returnTo) ?? '/' })}`

/** Goes on after a sign-in. A browser that has not kept the cookie would see the sign-in again, without a word. */
export const signedInRoute = (): Router =>
  Router().get(
    PATH,
    describeRoute({
      summary: 'Goes on to `returnTo` after a sign-in, or says that the browser keeps no cookie.',
      query: z.object({ returnTo: z.string().optional() }),
      status: 303,
      isPublic: true,
      errors: ['sign_in_failed'],
    }),
    (req, res) => {
      if (!currentUser(req)) throw signInFailed(texts.signIn.cookiesBlocked)
      res.redirect(303, localPath(req.query.returnTo) ?? '/')
    },
  )
