"""Bounces as mail servers write them, from RFC 3464, 6522 and 3834 and the form that each product is known to send.

`{to}` is the address that a bounce goes to, `{header}` the header of the mail with the token of the try, and `{space}`
a space at the end of a line.
"""

POSTFIX = """\
Return-Path: <>
X-Original-To: {to}
Delivered-To: bounces@example.com
Received: by mail.example.com (Postfix)
	id 4bQx7W2J9Vz1Q; Thu,  5 Nov 2026 10:00:00 +0100 (WAT)
Date: Thu,  5 Nov 2026 10:00:00 +0100 (WAT)
From: MAILER-DAEMON@mail.example.com (Mail Delivery System)
Subject: Undelivered Mail Returned to Sender
To: {to}
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
	boundary="4bQx7V6Lq3z1P.1793869200/mail.example.com"
Content-Transfer-Encoding: 8bit
Message-Id: <4bQx7W2J9Vz1Q@mail.example.com>

This is a MIME-encapsulated message.

--4bQx7V6Lq3z1P.1793869200/mail.example.com
Content-Description: Notification
Content-Type: text/plain; charset=utf-8

I'm sorry to have to inform you that your message could not
be delivered to one or more recipients. It's attached below.

<ada@shop.example>: host mx.shop.example[192.0.2.25] said: 550 5.1.1
    <ada@shop.example>: Recipient address rejected: User unknown (in reply to
    RCPT TO command)

--4bQx7V6Lq3z1P.1793869200/mail.example.com
Content-Description: Delivery report
Content-Type: message/delivery-status

Reporting-MTA: dns; mail.example.com
X-Postfix-Queue-ID: 4bQx7V6Lq3z1P
X-Postfix-Sender: rfc822; {to}
Arrival-Date: Thu,  5 Nov 2026 09:59:58 +0100 (WAT)

Final-Recipient: rfc822; ada@shop.example
Original-Recipient: rfc822;ada@shop.example
Action: failed
Status: 5.1.1
Remote-MTA: dns; mx.shop.example
Diagnostic-Code: smtp; 550 5.1.1 <ada@shop.example>: Recipient address
    rejected: User unknown

--4bQx7V6Lq3z1P.1793869200/mail.example.com
Content-Description: Undelivered Message Headers
Content-Type: text/rfc822-headers
Content-Transfer-Encoding: 8bit

Return-Path: <{to}>
From: Ada Stores <console@example.com>
To: Ada <ada@shop.example>
Subject: Invoice
{header}

--4bQx7V6Lq3z1P.1793869200/mail.example.com--
"""

# A mail that waits for the other server, and one that waited for days: 4.4.1, and final by its action.
POSTFIX_DELAYED = POSTFIX.replace("Action: failed\nStatus: 5.1.1", "Action: delayed\nStatus: 4.4.1").replace(
    "Diagnostic-Code: smtp; 550 5.1.1 <ada@shop.example>: Recipient address\n    rejected: User unknown",
    "Diagnostic-Code: X-Postfix; connect to mx.shop.example[192.0.2.25]:25:\n    Connection timed out",
)
POSTFIX_EXPIRED = POSTFIX_DELAYED.replace("Action: delayed", "Action: failed")

EXIM = """\
Return-path: <>
Envelope-to: {to}
Received: from Debian-exim by mail.example.com with local (Exim 4.96)
	id 1tAbCd-000123-2x
	for {to};
	Thu, 05 Nov 2026 10:00:00 +0100
X-Failed-Recipients: ada@shop.example
Auto-Submitted: auto-replied
From: Mail Delivery System <Mailer-Daemon@mail.example.com>
To: {to}
References: <ml00@example.com>
Content-Type: multipart/report; report-type=delivery-status; boundary=1793869200-eximdsn-1804289383
MIME-Version: 1.0
Subject: Mail delivery failed: returning message to sender
Message-Id: <E1tAbCd-000123-2x@mail.example.com>

--1793869200-eximdsn-1804289383
Content-type: text/plain; charset=us-ascii

This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ada@shop.example
    host mx.shop.example [192.0.2.25]
    SMTP error from remote mail server after RCPT TO:<ada@shop.example>:
    550 5.1.1 User unknown

--1793869200-eximdsn-1804289383
Content-type: message/delivery-status

Reporting-MTA: dns; mail.example.com

Action: failed
Final-Recipient: rfc822;ada@shop.example
Status: 5.0.0
Remote-MTA: dns; mx.shop.example
Diagnostic-Code: smtp; 550 5.1.1 User unknown

--1793869200-eximdsn-1804289383
Content-type: message/rfc822

Return-path: <{to}>
From: Ada Stores <console@example.com>
Subject: Invoice
{header}

See your invoice.

--1793869200-eximdsn-1804289383--
"""

# Of Exim before 4.84, and of Gmail to senders elsewhere: no report, but a header.
EXIM_OLD = """\
Return-path: <>
Envelope-to: {to}
X-Failed-Recipients: ada@shop.example
Auto-Submitted: auto-replied
From: Mail Delivery System <Mailer-Daemon@mail.example.com>
To: {to}
Subject: Mail delivery failed: returning message to sender

This message was created automatically by mail delivery software.

  ada@shop.example
    Unrouteable address

------ This is a copy of the message, including all the headers. ------

Return-path: <{to}>
{header}
"""

EXCHANGE = """\
Received: from MX1.corp.example (10.0.0.5) by mail.example.com
From: <postmaster@corp.example>
To: <{to}>
Date: Thu, 5 Nov 2026 09:00:00 +0000
Content-Type: multipart/report; report-type=delivery-status;
	boundary="9d5b1f0e-7c6a-4b1e-8f55-0c2a7e4d9f11"
X-MS-Exchange-Message-Is-Ndr:
Content-Language: en-US
Message-ID: <3f1c@MX1.corp.example>
In-Reply-To: <ml00@example.com>
References: <ml00@example.com>
Subject: Undeliverable: Invoice
Auto-Submitted: auto-replied
MIME-Version: 1.0

--9d5b1f0e-7c6a-4b1e-8f55-0c2a7e4d9f11
Content-Type: multipart/alternative; differences=Content-Type;
	boundary="2e8a4c7b-1d3f-4e5a-9b6c-7d8e9f0a1b2c"

--2e8a4c7b-1d3f-4e5a-9b6c-7d8e9f0a1b2c
Content-Type: text/plain; charset="us-ascii"
Content-Transfer-Encoding: quoted-printable

Delivery has failed to these recipients or groups:

ada@corp.example<mailto:ada@corp.example>
The email address you entered couldn't be found. Please check the recipient=
's email address and try to resend the message.

--2e8a4c7b-1d3f-4e5a-9b6c-7d8e9f0a1b2c
Content-Type: text/html; charset="us-ascii"
Content-Transfer-Encoding: quoted-printable

<html><body>Delivery has failed to these recipients or groups:</body></html>

--2e8a4c7b-1d3f-4e5a-9b6c-7d8e9f0a1b2c--

--9d5b1f0e-7c6a-4b1e-8f55-0c2a7e4d9f11
Content-Type: message/delivery-status

Reporting-MTA: dns;MX1.corp.example
Received-From-MTA: dns;mail.example.com
Arrival-Date: Thu, 5 Nov 2026 08:59:58 +0000

Original-Recipient: rfc822;ada@corp.example
Final-Recipient: rfc822;ada@corp.example
Action: failed
Status: 5.1.10
Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient ada@corp.example
 by SMTP address lookup
X-Display-Name: ada@corp.example


--9d5b1f0e-7c6a-4b1e-8f55-0c2a7e4d9f11
Content-Type: message/rfc822

Return-Path: {to}
Subject: Invoice
{header}

--9d5b1f0e-7c6a-4b1e-8f55-0c2a7e4d9f11--
"""

GMAIL = """\
Delivered-To: {to}
Return-Path: <>
From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>
To: {to}
Auto-Submitted: auto-replied
Subject: Delivery Status Notification (Failure)
References: <ml00@example.com>
In-Reply-To: <ml00@example.com>
X-Failed-Recipients: ada@gmail.com
Content-Type: multipart/report; boundary="000000000000aa11bb0642c0ffee"; report-type=delivery-status
Date: Thu, 05 Nov 2026 01:00:00 -0800 (PST)

--000000000000aa11bb0642c0ffee
Content-Type: multipart/related; boundary="000000000000aa22bb0642c0ffee"

--000000000000aa22bb0642c0ffee
Content-Type: text/plain; charset="UTF-8"

** Address not found **

Your message wasn't delivered to ada@gmail.com.

--000000000000aa22bb0642c0ffee--
--000000000000aa11bb0642c0ffee
Content-Type: message/delivery-status

Reporting-MTA: dns; googlemail.com
Received-From-MTA: dns; console@example.com
Arrival-Date: Thu, 05 Nov 2026 01:00:00 -0800 (PST)
X-Original-Message-ID: <ml00@example.com>

Final-Recipient: rfc822; ada@gmail.com
Action: failed
Status: 5.1.1
Remote-MTA: dns; gmail-smtp-in.l.google.com. (192.0.2.26, the server for the domain gmail.com.)
Diagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please try
 550-5.1.1 double-checking the recipient's email address for typos or
 550 5.1.1 unnecessary spaces. a640c23a62f3a-b1cd2 - gsmtp
Last-Attempt-Date: Thu, 05 Nov 2026 01:00:00 -0800 (PST)

--000000000000aa11bb0642c0ffee
Content-Type: message/rfc822

Subject: Invoice
{header}

--000000000000aa11bb0642c0ffee--
"""

SES = """\
Return-Path: <>
Received: from a27-8.smtp-out.us-west-2.amazonses.com (a27-8.smtp-out.us-west-2.amazonses.com [192.0.2.27])
	by mail.example.com (Postfix) with ESMTPS
From: MAILER-DAEMON@us-west-2.amazonses.com
To: {to}
Message-ID: <0101-ee5b6bff-000000@us-west-2.amazonses.com>
Subject: Delivery Status Notification (Failure)
MIME-Version: 1.0
Content-Type: multipart/report;{space}
	boundary="----=_Part_491442_153898515.1793869200160";{space}
	report-type=delivery-status

------=_Part_491442_153898515.1793869200160
Content-Type: text/plain; charset=us-ascii
Content-Transfer-Encoding: 7bit
Content-Description: Notification

An error occurred while trying to deliver the mail to the following recipients:
ada@shop.example
------=_Part_491442_153898515.1793869200160
Content-Type: message/delivery-status
Content-Transfer-Encoding: 7bit
Content-Description: Delivery Status Notification

Reporting-MTA: dns; a27-33.smtp-out.us-west-2.amazonses.com

Action: failed
Final-Recipient: rfc822; ada@shop.example
Diagnostic-Code: smtp; 552 5.2.2 mailbox full
Status: 5.2.2


------=_Part_491442_153898515.1793869200160
Content-Type: message/rfc822
Content-Description: Undelivered Message

From: console@example.com
Message-ID: <0101-110cf920-000000@us-west-2.amazonses.com>
{header}

------=_Part_491442_153898515.1793869200160--
"""

# Of somebody who is away (RFC 3834), of a program that somebody has read it (RFC 8098), and a complaint (RFC 5965).
VACATION = """\
From: Ada <ada@shop.example>
To: {to}
Subject: Out of office: Invoice
Auto-Submitted: auto-replied
Content-Type: text/plain; charset=utf-8

I am away until Monday. My address 550 5.1.1 is Action: failed for now.
"""
RECEIPT = """\
From: Ada <ada@shop.example>
To: {to}
Subject: Read: Invoice
Content-Type: multipart/report; report-type=disposition-notification; boundary="mdn"

--mdn
Content-Type: message/disposition-notification

Final-Recipient: rfc822;ada@shop.example
Disposition: manual-action/MDN-sent-manually; displayed

--mdn--
"""
COMPLAINT = """\
From: feedback@isp.example
To: {to}
Content-Type: multipart/report; report-type=feedback-report; boundary="arf"

--arf
Content-Type: message/feedback-report

Feedback-Type: abuse
Version: 1

--arf
Content-Type: message/rfc822

{header}

--arf--
"""


def fill(sample: str, to: str, header: str = "") -> bytes:
    """Returns a sample as it arrives, with the line ends of SMTP."""
    return sample.replace("{space}", " ").replace("{to}", to).replace("{header}", header).replace("\n", "\r\n").encode()
