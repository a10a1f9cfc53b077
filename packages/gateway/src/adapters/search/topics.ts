/** Things and situations that people speak of, by the terms that tools use for them, in the form of `SAYINGS`. */
export const TOPICS: Readonly<Record<string, string>> = {
  // Files and machines
  'file|document':
    'essay, contract, invoice, cv, resume, receipt, thesis, manuscript, installer, readme, license, licence, homework, recipe, leaflet, paperwork, paper, form letter, presentation, docs',
  'file|image|media': 'wallpaper, selfie, painting, jpg, jpeg, png, gif, svg, scan',
  'file|audio|media': 'mp3, wav, song, voice memo, podcast, ringtone, tune',
  'file|text': 'txt, text file, md, markdown, plain text',
  'file|code|search': 'source, source code, codebase, snippet, function call, method, variable name',
  'archive|compress|extract': 'zip, rar, tar, tgz, gz, tarball, 7z, bundle',
  'compress|gzip|archive':
    'pack, pack up, pack together, zip together, gzipped, take less space, squash down',
  'extract|decompress|archive': 'take apart, whats inside the zip, unwrap, open the archive',
  'directory|folder|list': 'downloads, desktop, my documents, home folder, in my folder',
  'disk|usage|storage':
    'hard drive, hard disk, ssd, gigabyte, megabyte, terabyte, gb, mb, tb, usb stick, thumb drive, partition, room left, space left',
  'large|size': 'space eater, space hog, bloat, clutter, junk, gobble, fill up',
  'delete|remove':
    'toss, toss out, dump out, dispose, bye to, chuck, throw, obliterate, destroy, eliminate, erased',
  'delete|clear|remove': 'wipe out, cross out, rub out, strike, take off, take out, cut out',
  'move|rename|name': 'another name, new name, different name, wrong name, retitle',
  'move|file|directory': 'put elsewhere, shove, somewhere else, put into folder, put away, transfer, tidy',
  'copy|duplicate|backup': 'spare copy, second copy, carbon copy, safety copy, replicate, twin of, photocopy',
  'sync|synchronize|directory':
    'identical, same in both, mirror image, in sync, match up, keep the same, keep both',
  'tree|directory|structure': 'organised, organized, folder structure, laid out, nested, arranged, skeleton',
  'edit|replace|text':
    'swap, swap out, instead of, reword, rephrase, misspelled, spelling, spelled wrong, every occurrence',
  'edit|file|update': 'mess with, alter, make changes, touch up, polish',
  'multiple|several|batch':
    'couple, few, several places, all these, all those, many at once, dozen, three, four, five, single pass',
  'blocks|parts|multiple': 'bits, spots, places in',
  'safe|risk|confirmation':
    'careful, carefully, cautious, cautiously, without breaking, be sure before, dont break',
  'write|create|file': 'new file, jot, put into a file, scribble, save text, type up, blank file',
  'create|directory|folder': 'new folder, make a folder, empty folder',
  'read|file|content': 'what does say, read out, read aloud, read through, inside of the file, text of',
  'tail|lines|read': 'bottom of, last few lines, final lines',
  'head|lines|read': 'top of, first few lines, opening lines',
  'lines|extract|read': 'excerpt, between lines, from line, portion',
  'info|metadata|details':
    'last saved, last opened, when was, how recent, creation date, modification date, date of, who owns, owner of the file, writable, permission',
  'allowed|access|directories':
    'may you touch, can you touch, can you reach, may you see, off limits, have access, can you access, allowed to',
  'search|files|find':
    'where did i put, where is my, cant find, lost track, mislaid, misplaced, hiding, locate, where are my',
  'environment|variable': 'env var, path set',
  'command|execute|service':
    'restart, reboot, nginx, apache, in the container, inside the container, bash, prompt, cli',
  'log|output|logging': 'log line, noise in the log, chatter',
  'long|operation|duration': 'takes a while, takes long, takes ages, takes forever, lengthy, slow job',
  'progress|status|updates': 'progress bar, how far along, percentage done',
  'sum|numbers|add': 'altogether, in total, add together, combined total, addition, arithmetic',
  'echo|message': 'parrot, say it back, back to me, mimic, repeat after me, same words back',

  // What is remembered
  'observations|add|memory':
    'keep in mind, bear in mind, dont forget, note that, make a note, for later, for future, allergic, prefers, favourite, favorite',
  'search|nodes|graph|memory':
    'recall, remember about, do you know about, told you, mentioned before, ever told, tell me who, who is, remind me who, remind me what',
  'graph|knowledge|read|memory':
    'know so far, everything you know, all you know, you know about me, in your head, in your memory, brain, whole memory, learned so far',
  'relations|relation|connected':
    'married, works at, works for, works with, friend of, friends with, belongs to, related to, relationship, connection, brother, sister, parent of, lives in, reports to, tie, owns, manager of, divorced, engaged, dating',
  'entities|entity|create': 'new person, new company, concept, thing called',
  'observations|entities|delete':
    'no longer true, not true, wrong about, no longer likes, outdated, isnt true',

  // Repositories
  'repository|search':
    'open source, projects for, library for, repositories about, scraper, maintained, github project, framework',
  'repository|create': 'new repo, new project, empty repo, start a project',
  'fork|repository':
    'own version, my version, version of their, copy of their, copy of somebody, copy of someone, hack on',
  'issue|bug|create':
    'ticket, bug report, glitch, misbehave, flaw, feature request, not working, doesnt work',
  'issue|close|update': 'solved, resolved, closed, reopen, relabel, done with, no longer needed',
  'branch|create': 'split off, line of work, separate line, side branch, new branch, own branch',
  'branch|repository': 'main, master, trunk',
  'merge|pull|request':
    'bring into, get into main, into main, into master, accept, go ahead and, merge in, incorporate, fold in',
  'pull|request|create':
    'propose, propose changes, submit my changes, offer my changes, put up for review, send my changes, suggest my changes, ask to merge, proposal',
  'review|pull|request':
    'lgtm, feedback on, sign off on, look over, go over my code, reject, request changes',
  'review|comments|pull':
    'people say about, said about, remarks, reviewers say, what did reviewers, critique, nitpick, criticism',
  'files|pull|changed': 'affects, what got changed',
  'status|checks|pull':
    'ci, checks pass, tests pass, build passing, ready to merge, mergeable, is it green, did the tests, passing',
  'update|branch|latest': 'rebase, out of date, fall behind, behind main, stale branch, bring up to date',
  'commits|history|list':
    'recently changed, latest changes, recent changes, who touched, recent work, recent edits, been changed',
  'push|files|commit': 'check in, commit them, commit these, commit those, all in one commit, one commit',
  'users|search|account':
    'handle, username, account of, account named, user name, github name, developer called, contributor',

  // Messages and people
  'thread|replies|conversation':
    'back and forth, underneath, discussion under, whole discussion, exchange, under that, answers to, responses',
  'reply|thread': 'answer under, reply under, respond under, in the thread',
  'reaction|emoji': 'thumbs, smile, party, tada, fire, clap, applaud, eyes',
  'channel|list': 'chatroom, chat room',
  'history|messages|channel':
    'was said, been said, been posted, got posted, scrollback, read up, latest in, i missed, whats new in',
  'profile|user':
    'job title, phone of, time zone, timezone, email address of, display name, contact details, who exactly is',
  'users|list|workspace':
    'who is in, who all, everyone in, members of, on the team, work here, headcount, roster',
  'post|message|channel':
    'announce, announcement, let everyone, broadcast, shout out, say good, say hi, say hello, say happy, wish',
  'email|send':
    'drop an email, write mum, write mom, shoot an email, fire off, mail out, invite by mail, reach out',
  'sender|from|search':
    'mail from, email from, message from, letter from, wrote me, written me, sent me, heard from, did write',
  'recipient|to|search':
    'i sent to, sent to, mail to, emails to, i wrote to, wrote to, addressed to, i mailed',
  'subject|title': 'titled, headline, heading, subject line',
  'body|text|search': 'talk about, mails about, emails about, say something about, contain the words',
  'unreplied|reply|sender':
    'forget to answer, forgot to answer, not answered, havent answered, owe a reply, owe an answer, waiting for my reply, waiting for an answer, not replied, havent replied, forgot to reply, still waiting',
  'unseen|unread|messages':
    'new emails, not read, havent read, not opened, unopened, any mail, any new, havent seen',
  'recent|messages|latest': 'newest, came in, just arrived, come in, most recent, arrived',
  'since|date': 'since, ever since, after monday, as of',
  'attachment|save|download':
    'came with, that came with, file they sent, attached file, pdf they sent, enclosed, enclosure, out of the mail, out of the email, photos they sent, picture they sent, in the mail to disk',
  'attachments|attachment': 'attached, anything attached, paperclip',
  'mailbox|folder|list':
    'mail folder, sent mail, outbox, junk mail, spam folder, junk folder, trash folder, drafts folder, folder in my mail',
  'connection|status': 'still connected, offline, reachable',
  'connect|login': 'put me online, go online, get online, back online, sign me in, hook me up',
  'disconnect|close': 'sign out, log off, cut the connection, drop the connection, hang up on',
  'flag|keyword': 'flagged, important, labelled, labeled, tagged',

  // Pages
  'wait|time': 'second, moment, finish loading, give it a, patient, patience, pause, until it',
  'select|option|dropdown':
    'choose, country list, combo box, combobox, drop down, picker, selection box, from the list, radio button',
  'drag|drop': 'pull over, slide over, one column to, pull to, pull from, rearrange, reorder, haul, sortable',
  'dialog|accept|dismiss':
    'alert box, say ok, say yes, confirm box, are you sure, confirmation box, message box, prompt box, annoying box',
  'click|element|button': 'link that says, follow the link, submit button, button, radio, double click',
  'form|fill|fields':
    'sign up form, signup form, questionnaire, registration, checkout form, contact form, enter my details, my details, log me in, my password, my name, signup, sign up',
  'type|text|element': 'type in, text box, textbox, search box, search bar, input box, key in, keyboard',
  'key|press':
    'enter key, escape, esc, hit enter, hit escape, arrow key, arrow down, arrow up, page down, shortcut, hotkey',
  'navigate|url':
    'go to, head to, take me to, web address, load the page, load the site, land on, visit, open the site',
  'navigate|back|history':
    'back one page, previous page, page before, one page back, step back, back to where, last page',
  'tab|tabs': 'another tab, other tab, new tab, switch tab, different tab',
  'resize|window|width':
    'mobile size, tablet size, ipad size, phone screen, smaller window, pixels wide, pixels, iphone',
  'media|emulate|color|print': 'print view, high contrast, light theme, reduced motion, dark, when printed',
  'console|messages|log':
    'js error, javascript error, page errors, errors on the page, console log, page complain, page log, blank page, site blank, page blank, javascript problem, script problem, red in the console',
  'network|requests|request':
    'backend, calls to, xhr, what does it load, fetches, downloads from, talk to the server, phone home, http',
  'screenshot|snapshot':
    'capture, photo of the page, picture of the page, screen grab, screengrab, how it looks',
  'snapshot|find|text|page':
    'on the page, does it say, on screen, show up on the page, anywhere on the page, page contain, whether it says, says anywhere, tell me whether',
  'evaluate|javascript|code': 'javascript, document title, run js, dom, script in the page',
  'upload|file':
    'attach my, hand over a file, put a file into, my cv, send the file, give it a file, give the site, profile picture',
  'hover|element': 'tooltip, cursor over, pointer over, mouse on, cursor on, pointer on, hovering',
  'close|browser': 'shut, shut the browser, quit, be done with the site',

  // Places and weather
  'place|search|nearby':
    'sushi, burger, drinks, gym, dentist, doctor, hospital, gas station, petrol, atm, bank, bakery, barber, hairdresser, cinema, bookshop, bookstore, mall, florist, parking, toilet, campsite, clinic, vet, mechanic, kebab, ramen, tacos, vegan, breakfast, brunch, beer, grocery, playground, pool, mosque, church, somewhere to, nearest, closest, airbnb, shop, store',
  'place|details|hours':
    'opening hours, open today, closing time, opening time, rating, how good is, reviews of, still open, is it open, when does it close, when does it open, website of',
  'address|geocode|location':
    'street, road, avenue, postcode, zip code, house number, downing street, boulevard, town',
  'coordinates|geocode|latitude|longitude':
    'lat, lng, gps, gps position, on the globe, exact spot, pin, map position, lat long',
  'address|reverse|geocode|coordinates':
    'what street, which street, what address, which address, what is at, what place is',
  'directions|route':
    'drive, drive to, airport, turn by turn, get home, cycle to, ride to, on foot, by foot, find my way, the way, navigate me, bring me to',
  'distance|travel|duration':
    'far, miles, km, kilometer, kilometre, how far apart, long does it take, take to get, drive time, travel time, apart, closest to, nearest to, nearer, farther, further, furthest, farthest, quicker, quickest route',
  'elevation|altitude|height':
    'above sea level, above the sea, sea level, high up, summit, peak, how many meters, how many feet, meters above, volcano, climb, steep',
  'weather|alerts|warning':
    'hurricane, tornado, flood, blizzard, typhoon, cyclone, heatwave, heat wave, thunderstorm, wildfire, hail, evacuate, dangerous, severe, lightning, avalanche, tsunami',
  'weather|current|conditions|temperature':
    'chilly, windy, wind, breezy, foggy, fog, humid, humidity, cloudy, muggy, degrees, celsius, fahrenheit, drizzle, hot out, cold out, warm out, right now outside, thermometer, mild, sweaty',
  'weather|forecast':
    'picnic, barbecue, bbq, hike, ski, sailing, beach day, wear, get wet, dress, clothes, shorts, frost, sunshine, clouds, sun, sunset, sunrise, laundry outside, thunder',
  'forecast|date':
    'monday, tuesday, wednesday, thursday, friday, saturday, sunday, next week, later this week, coming days, next few days, next days, tonight',
  'service|status|operational': 'feed, outage, is it down, api down, service down, still up, respond',
  'location|search': 'village, city, country, where exactly is, town called, place called, county',

  // Video
  'video|search':
    'watch, film, episode, vlog, tutorial, trailer, footage, livestream, youtube, music video, how to, documentary, cartoon, teach me, lesson, funny',
  'channel|statistics|subscriber':
    'follower, subs, fans, audience, creator, popular is, channel doing, how famous, influencer',
  'channel|top|popular':
    'greatest hits, best stuff, best of, biggest hit, most watched, ever made, hits of, most viewed, best videos, best clips',
  'trending|popular':
    'everyone watching, everybody watching, people watching, buzz, hyped, craze, all the rage, fashionable, whats big, going viral, charts',
  'transcript|caption|text':
    'spoken, narration, quote, exact words, speech, word for word, he say, she say, guy say, they say in, without watching, written version, read the video, lecture, interview, sermon, write out, written out, typed out',
  'related|similar':
    'more like, similar, like this one, like this, like that one, along these lines, same kind, same vein, watch next, else like',
  'compare|statistics':
    'did better, does better, performed better, which is better, side by side, versus, vs, against each other, better of, more popular, beats, outperform, better',
  'engagement|ratio|like':
    'do people like, well received, interact, how well liked, likes and comments, love it',
  'video|details|metadata':
    'uploaded it, who uploaded, who made, who posted this, upload date, length of the video, long is this clip, long is the video, long is the film, running time, published, was posted',

  // Data
  'query|sql|database|table':
    'sign ups, revenue, sales, orders placed, purchase, last month, last year, how many orders, how many users, how many customers, from the database, in the database, in our data, earned, turnover, subscribers we have, product sold, sold, stock, inventory, bought',
};
