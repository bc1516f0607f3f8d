// Package database is the engine of analytics that keeps events in the main database,
// SQLite or PostgreSQL, and asks in SQL. It needs nothing besides, and is as fast as
// the database is: seconds where an app has millions of events.
//
// # Layout
//
// The tables form a star. A row of event holds numbers: when, a random id, who
// (a hash), and references to what repeats from event to event:
//
//	event_app     an app
//	event_link    a state of a link: its id, place, group, campaign, folder, tags
//	event_client  a combination of device, system, browser and source
//	event_text    a referrer host or a rule id
//
// So a click costs some 50 bytes instead of 250, a query reads little, and
// filters are decided once on the small tables rather than for every event.
// An event refers to the link as it was then; moving a link to a campaign does
// not rewrite its past.
//
// An event is identified by app, instant and id, and adding one that is there
// already does nothing. That is what makes loading safe to repeat, and it is
// the order of the rows: an app's period is one range of the primary key.
package database
